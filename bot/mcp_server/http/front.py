"""The outermost layer: headers on every answer, and failures that tell nothing of what was asked."""

import asyncio

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.error_location import frames
from bot.mcp_server.http.answers import problem

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4
HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class Front:
    """Everything that comes in goes through here. An error ends here: its text may quote a recipient."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, whatever happens."""
        began = False

        async def sending(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            # Only the server's own end cancels a call: it took longer than that waits.
            if not began:
                await problem(503, "Shutting down", {"connection": "close"})(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  the last place where it can be answered
            log.error("request_failed", error=type(error).__name__, where=frames(error, FRAMES_LOGGED))  # noqa: TRY400
            if not began:
                await problem(500, "Internal server error")(scope, receive, sending)
