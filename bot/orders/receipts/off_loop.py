"""Drawing of receipts in a separate thread. All that draws is loaded there, as for charts."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bot.orders.receipts.picture import ReceiptFacts

# One thread only, as for QR codes. Many receipts at once queue here. So they don't compete with the event loop, and
# don't delay the QR codes that users are waiting for.
_RENDERER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="receipt")


async def render_receipt_off_loop(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG.

    Raises:
        UnrenderableQr: `verify_url` is too long for a QR code.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _render, facts)


def _render(facts: ReceiptFacts) -> bytes:
    from bot.orders.receipts.drawing import render_receipt  # noqa: PLC0415  see the module

    return render_receipt(facts)
