"""Answers that don't come from the SDK: JSON errors, the headers of every answer, and answers to internal errors."""

import asyncio
from collections.abc import Mapping

import structlog
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.error_location import list_frames

log = structlog.get_logger(__name__)

FRAMES_LOGGED = 4
HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


def error_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error in the same form as the settlement service's: `{"error": …}`."""
    return JSONResponse({"error": text}, status, headers)


class ErrorMiddleware:
    """The outermost layer. It adds headers to every answer, and answers an error without its text.

    The text of an error can quote a recipient.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request. Answer it here if that fails. A slash at the end of the path makes no difference."""
        has_begun = False
        scope = {**scope, "path": scope["path"].removesuffix("/")}

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:
            # Only the server's shutdown cancels a call that takes longer than the shutdown waits.
            if not has_begun:
                response = error_response(503, "Shutting down", {"connection": "close"})
                await response(scope, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001  no other layer can answer
            log.error("request_failed", error=type(error).__name__, where=list_frames(error, FRAMES_LOGGED))  # noqa: TRY400
            if not has_begun:
                await error_response(500, "Internal server error")(scope, receive, send_with_headers)
