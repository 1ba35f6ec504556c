"""Draw a receipt in a separate thread.

Pillow and all that draws are loaded there, with the first receipt, and not at the start: 40 ms and 5 MB.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from bot.orders.receipts.picture.facts import ReceiptFacts

# One thread only, as for QR codes. Many receipts at once queue here. So they don't compete with the event loop, and
# don't delay the QR codes that users are waiting for.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="receipt")


async def render_receipt_off_loop(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as `render_receipt` does, without blocking the event loop.

    Raises:
        UnrenderableQr: see `render_receipt`.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _render, facts)


def _render(facts: ReceiptFacts) -> bytes:
    from bot.orders.receipts.picture.render import render_receipt  # noqa: PLC0415  see the module

    return render_receipt(facts)
