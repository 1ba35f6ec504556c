"""Answers that are given before the SDK is asked: JSON, and only once the request has been heard out."""

import asyncio
from collections.abc import Mapping

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

HEARD_OUT_WITHIN_SECONDS = 5.0


def problem(status: int, said: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as the service itself puts it: `{"error": …}`."""
    return JSONResponse({"error": said}, status, headers)


async def answer(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body nobody wants; `receive` must still bring the end of it.

    It is thrown away first: a client that is still writing would find the connection cut instead of the answer.
    After a few seconds it is cut all the same.
    """
    if not await _heard_out(receive):
        response.headers["connection"] = "close"
    await response(scope, receive, send)


async def _heard_out(receive: Receive) -> bool:
    try:
        async with asyncio.timeout(HEARD_OUT_WITHIN_SECONDS):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body", False):
                    return True
    except TimeoutError:
        pass
    return False
