"""Detection of callers that hang up. Calls that only read can then stop."""

import asyncio
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HAS_LEFT: ContextVar[asyncio.Event | None] = ContextVar("caller_has_left", default=None)


def has_left() -> bool:
    """Return whether the caller has hung up. Over stdio always False: the process ends with its client."""
    left = _HAS_LEFT.get()
    return left is not None and left.is_set()


class Caller:
    """Notice when a caller hangs up. It must be behind `OneMessage`, where the body is complete.

    A call that changes something continues. It checks `has_left` only at points where it can stop.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the call, and watch for a disconnect at the same time."""
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
