"""Bodies within reason: no larger and no slower than a call of a tool can be."""

import asyncio

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem

log = structlog.get_logger(__name__)

MOST_BYTES = 1024 * 1024
"""The longest call that makes sense has a few hundred."""

WITHIN_SECONDS = 15.0


class Gone(Exception):
    """The client has left before it had said everything."""


class TooLarge(Exception):
    """A body of more than `MOST_BYTES`; `is_whole` where nothing more of it comes."""

    def __init__(self, *, is_whole: bool) -> None:
        super().__init__()
        self.is_whole = is_whole


class Body:
    """Takes a request's body in, whole, before anybody works on it, whether its length was announced or not.

    Starlette and the SDK limit the size too, but neither the time nor what a client that goes on writing gets to see.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that has been taken in."""
        try:
            body = await _taken_in(receive)
        except Gone:
            return
        except TooLarge as error:
            log.info("request_rejected", status=413)
            refusal = problem(413, f"Request body too large. The limit is {MOST_BYTES} bytes")
            await answer(refusal, scope, told_again(b"", receive) if error.is_whole else receive, send)
        except TimeoutError:
            log.info("request_rejected", status=408)
            await problem(408, "Request body too slow", {"connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, told_again(body, receive), send)


async def _taken_in(receive: Receive) -> bytes:
    body = bytearray()
    async with asyncio.timeout(WITHIN_SECONDS):
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
            if len(body) > MOST_BYTES:
                raise TooLarge(is_whole=is_whole)
            if is_whole:
                return bytes(body)
    raise Gone


def told_again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that brings the body in one piece, then whatever else comes."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return first.pop() if first else await receive()

    return receiving
