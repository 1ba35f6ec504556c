"""Middleware that applies faults to the whole API, so that the endpoints know nothing of them.

It also writes the request log, because only this layer knows what the integrator received.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.sandbox.service.control.faults import DELAYS, DROPS, Fault
from bot.sandbox.service.control.request_log import DROPPED
from bot.sandbox.wire import drop_connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bot.sandbox.service.service import Service

_GUARDED: Final = "/v1"
_TEXTS: Final = {
    400: "invalid request",
    401: "Invalid or revoked API key",
    404: "order not found",
    429: "too many requests",
    503: "database unavailable, try again shortly",
}
GATEWAY_PAGE: Final = "<!DOCTYPE html><html><head><title>One moment</title></head><body>One moment</body></html>"


class FaultLayer:
    """ASGI middleware for all requests under /v1. Control requests bypass it.

    Args:
        app: the API.
        service: whose faults and request log.
        sleep: waits for a delay.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        service: Service,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app = app
        self._service = service
        self._sleep = sleep

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with its faults."""
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        method, path = scope["method"], scope["path"]
        faults = self._service.faults.take(method, path)
        # A slow service handles what arrived in time, even if the client has given up.
        arrived = await _arrived(receive) if faults else receive
        answer = await self._answer(scope, arrived, faults)
        self._service.requests.add(method, path, DROPPED if answer is None else answer.status_code)
        if answer is None:
            await drop_connection(scope)
        else:
            await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, faults: Sequence[Fault]) -> Response | None:
        """Return the answer, or None for no answer at all."""
        fault = next((fault for fault in faults if fault.fault not in DELAYS), None)
        await self._wait("delay", faults)
        answer = None
        if fault is None or fault.takes_effect:
            answer = await _collected(self._app, scope, receive)
        await self._wait("delay_after", faults)
        return answer if fault is None else _damaged(fault, answer)

    async def _wait(self, name: str, faults: Sequence[Fault]) -> None:
        for fault in faults:
            if fault.fault == name:
                await self._sleep(fault.seconds)


async def _arrived(receive: Receive) -> Receive:
    """Read the whole body before a fault applies. Return a `receive` that replays it."""
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return again


async def _collected(app: ASGIApp, scope: Scope, receive: Receive) -> Response:
    """Run the app and return its answer, held back until it is clear whether it will be sent."""
    start: Message = {}
    body = bytearray()

    async def keep(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            body.extend(message.get("body", b""))

    await app(scope, receive, keep)
    answer = Response(bytes(body), status_code=start["status"])
    answer.raw_headers = list(start["headers"])
    return answer


def _damaged(fault: Fault, answer: Response | None) -> Response | None:
    if fault.fault in DROPS:
        return None
    if fault.failure_status is not None:
        return _failure(fault, fault.failure_status)
    if fault.fault == "html":
        return HTMLResponse(GATEWAY_PAGE, status_code=fault.status)
    if answer is None:
        return None
    if fault.fault == "truncated":
        return _with_body(answer, bytes(answer.body)[: len(answer.body) // 2])
    return _emptied(answer)


def _failure(fault: Fault, status: int) -> Response:
    headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    text = fault.error or _TEXTS.get(status, "internal server error")
    return JSONResponse({"error": text}, status_code=status, headers=headers)


def _emptied(answer: Response) -> Response:
    content = json.loads(bytes(answer.body))
    for name in ("orders", "data"):
        if isinstance(content.get(name), list):
            return _with_body(answer, json.dumps(content | {name: []}).encode())
    return answer


def _with_body(answer: Response, body: bytes) -> Response:
    return Response(body, status_code=answer.status_code, media_type="application/json")
