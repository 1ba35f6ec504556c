"""The QR codes of pages: drawn outside the event loop, and once for all viewers of the same invoice."""

import asyncio
from collections import OrderedDict

from bot.payments import qr

MOST_KEPT = 256
"""A picture has 2 to 3 kB."""


class QrCodes:
    """Keep the pictures that were requested last."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get_png(self, payload: str) -> bytes:
        """Return the payload as a QR code. Raises `UnrenderableQr`."""
        drawing = self._drawn.get(payload)
        if drawing is None or drawing.cancelled():
            drawing = self._drawn[payload] = asyncio.create_task(qr.render_png_off_loop(payload))
        self._drawn.move_to_end(payload)
        while len(self._drawn) > MOST_KEPT:
            self._drawn.popitem(last=False)
        return await asyncio.shield(drawing)
