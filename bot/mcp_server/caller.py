"""Detection of callers that hang up. Calls that only read can then stop."""

import asyncio
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HUNG_UP: ContextVar[asyncio.Event | None] = ContextVar("caller_hung_up", default=None)


def get_hang_up() -> asyncio.Event | None:
    """Return what is set when the caller hangs up. None over stdio."""
    return _HUNG_UP.get()


def has_hung_up() -> bool:
    """Return whether the caller has hung up. Over stdio always False: the process ends with its client."""
    hung_up = get_hang_up()
    return hung_up is not None and hung_up.is_set()


class DisconnectMiddleware:
    """Notices when a caller hangs up. It must be behind `MessageMiddleware`, where the body is complete.

    A call that changes something continues. It checks `has_hung_up` only at points where it can stop.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the call, and watch for a disconnect at the same time."""
        body: list[Message] = [await receive()]
        hung_up = asyncio.Event()

        async def receive_body() -> Message:
            if body:
                return body.pop()
            await hung_up.wait()
            return {"type": "http.disconnect"}

        watching = asyncio.create_task(_watch(receive, hung_up))
        token = _HUNG_UP.set(hung_up)
        try:
            await self._app(scope, receive_body, send)
        finally:
            _HUNG_UP.reset(token)
            watching.cancel()


async def _watch(receive: Receive, hung_up: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    hung_up.set()
