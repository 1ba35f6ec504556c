"""Draw receipts as PNG pictures to forward. The package knows neither orders nor languages nor Telegram."""

from bot.orders.receipts.picture.facts import ReceiptFacts
from bot.orders.receipts.picture.off_loop import render_receipt_off_loop

__all__ = ["ReceiptFacts", "render_receipt_off_loop"]
