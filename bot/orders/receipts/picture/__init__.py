"""Receipts as pictures to forward: facts in, a PNG out. The package knows no order, no language and no transport."""

from bot.orders.receipts.picture.facts import ReceiptFacts
from bot.orders.receipts.picture.render import render_receipt, render_receipt_off_loop

__all__ = ["ReceiptFacts", "render_receipt", "render_receipt_off_loop"]
