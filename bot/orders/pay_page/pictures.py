"""The QR codes of pages: drawn off the loop, once for all who look at the same invoice."""

import asyncio
from collections import OrderedDict

from bot.payments import qr

MOST_KEPT = 256
"""Pictures have 2 to 3 kB each."""


class Pictures:
    """Pictures that were asked for lately."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def png(self, payload: str) -> bytes:
        """The payload as a QR code; raises `UnrenderableQr`."""
        drawing = self._drawn.get(payload)
        if drawing is None or drawing.cancelled():
            drawing = self._drawn[payload] = asyncio.create_task(qr.render_png_off_loop(payload))
        self._drawn.move_to_end(payload)
        while len(self._drawn) > MOST_KEPT:
            self._drawn.popitem(last=False)
        return await asyncio.shield(drawing)
