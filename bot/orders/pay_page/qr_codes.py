"""Draw the QR codes of pages outside the event loop, once for all viewers of an invoice."""

import asyncio
from collections import OrderedDict

from bot.payments import qr

MAX_KEPT = 256
"""How many pictures are kept. Each has 2 to 3 kB."""


class QrCodes:
    """Draw QR codes, and keep those that were requested last."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get_png(self, payload: str) -> bytes:
        """Return the payload as a QR code. Raises `UnrenderableQr`."""
        drawing = self._drawn.get(payload)
        if drawing is None or drawing.cancelled():
            drawing = self._drawn[payload] = asyncio.create_task(qr.render_png_off_loop(payload))
        self._drawn.move_to_end(payload)
        while len(self._drawn) > MAX_KEPT:
            self._drawn.popitem(last=False)
        return await asyncio.shield(drawing)
