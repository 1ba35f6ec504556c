"""Draw the pictures of pages, and keep those that were requested last."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

MAX_QR_CODES: Final = 256
"""Each has 2 to 3 kB."""

MAX_RECEIPTS: Final = 32
"""Each has about 60 kB. The receipts of chats are drawn in the same thread and must not wait for pages."""

Content = TypeVar("Content", bound=Hashable)


class KeptPictures(Generic[Content]):
    """Draw each picture once, as long as it is kept. It is known by what it shows, so it is never outdated."""

    def __init__(self, draw: Callable[[Content], Awaitable[bytes]], limit: int) -> None:
        self._draw = draw
        self._limit = limit
        self._drawn: OrderedDict[Content, asyncio.Task[bytes]] = OrderedDict()

    async def get_png(self, content: Content) -> bytes:
        """Return the picture of this content. Raises what `draw` raises."""
        drawing = self._drawn.get(content)
        if drawing is None or drawing.cancelled():
            drawing = self._drawn[content] = asyncio.create_task(self._draw_now(content))
        self._drawn.move_to_end(content)
        while len(self._drawn) > self._limit:
            self._drawn.popitem(last=False)
        return await asyncio.shield(drawing)

    async def _draw_now(self, content: Content) -> bytes:
        return await self._draw(content)
