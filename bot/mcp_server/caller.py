"""Whether the caller is still there: what only reads for somebody who has hung up ends with them."""

import asyncio
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HAS_LEFT: ContextVar[asyncio.Event | None] = ContextVar("caller_has_left", default=None)


def has_left() -> bool:
    """Return whether the caller of this call has hung up. Over stdio nobody has: the process ends with its client."""
    left = _HAS_LEFT.get()
    return left is not None and left.is_set()


class Caller:
    """Notices that a caller hangs up. Its place is behind `OneMessage`, where the body is in one piece.

    A call that changes something goes on all the same: it asks `has_left` only where it may stop.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, and listen for its caller's end beside it."""
        body: list[Message] = [await receive()]
        left = asyncio.Event()

        async def receiving() -> Message:
            if body:
                return body.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        listening = asyncio.create_task(_listen(receive, left))
        token = _HAS_LEFT.set(left)
        try:
            await self._app(scope, receiving, send)
        finally:
            _HAS_LEFT.reset(token)
            listening.cancel()


async def _listen(receive: Receive, left: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()
