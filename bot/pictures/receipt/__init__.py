"""Receipts as pictures to forward: facts in, a PNG out. The package knows no order, no language and no transport."""

from bot.pictures.receipt.facts import ReceiptFacts
from bot.pictures.receipt.render import render_receipt, render_receipt_off_loop

__all__ = ["ReceiptFacts", "render_receipt", "render_receipt_off_loop"]
