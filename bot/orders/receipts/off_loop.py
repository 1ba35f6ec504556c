"""Drawing of receipts in a separate thread."""

from bot.infra.drawing.off_loop import draw_off_loop
from bot.orders.receipts.picture import ReceiptFacts


def _render(facts: ReceiptFacts) -> bytes:
    from bot.orders.receipts.drawing import render_receipt  # noqa: PLC0415  see infra.drawing.off_loop

    return render_receipt(facts)


render_receipt_off_loop = draw_off_loop("receipt", _render)
"""Draw a receipt as a PNG. Raises `UnrenderableQr` if `verify_url` is too long for a QR code."""
