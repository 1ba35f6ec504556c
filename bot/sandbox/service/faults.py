"""The faults of the service, and the middleware that applies them to the whole API: the endpoints know nothing of them.

It also writes the request log, because only this layer knows what the integrator received.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.sandbox.service.orders import iso
from bot.sandbox.service.settings import ControlRefusal
from bot.sandbox.wire import drop_connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bot.sandbox.settlement import Service

DELAYS: Final = ("delay", "delay_after")
DROPS: Final = ("drop_before", "drop_after")
SPOILED: Final = ("html", "truncated", "empty_list")
DROPPED: Final = "dropped"
GATEWAY_PAGE: Final = "<!DOCTYPE html><html><head><title>One moment</title></head><body>One moment</body></html>"
_STATUS: Final = re.compile(r"([45]\d\d)(_before|_after)?", re.ASCII)
_GUARDED: Final = "/v1"
_TEXTS: Final = {
    400: "invalid request",
    401: "Invalid or revoked API key",
    404: "order not found",
    429: "too many requests",
    503: "database unavailable, try again shortly",
}
_RECENT: Final = 1000
_ORDER_PATH: Final = re.compile(r"(/v1/offramp/orders)/[^/]+")


@dataclass(slots=True, kw_only=True)
class Fault:
    """One fault.

    Attributes:
        fault: a name from this module's lists, or a status such as "503", "500_before" or "500_after".
        method: only requests with this method; None means any.
        path: only paths with this prefix; None means any under /v1.
        seconds: the length of a delay.
        times: how many times it will still happen; None means until it is cleared.
        retry_after: seconds for the `Retry-After` header.
        status: of an "html" answer.
        error: the text of `error`.
        used: how many times it happened.
    """

    id: int
    fault: str
    method: str | None = None
    path: str | None = None
    seconds: float = 1.0
    times: int | None = None
    retry_after: int | None = None
    status: int = 200
    error: str | None = None
    used: int = 0

    def applies_to(self, method: str, path: str) -> bool:
        """Return whether the fault applies to this request."""
        is_method = self.method is None or self.method == method
        return self.times != 0 and is_method and (self.path is None or path.startswith(self.path))

    def as_json(self) -> dict[str, object]:
        """Return the fault as listed."""
        shown = {name: getattr(self, name) for name in self.__slots__}
        return {**shown, "retryAfter": shown.pop("retry_after")}

    @property
    def takes_effect(self) -> bool:
        """Return whether the request takes effect although its answer is lost or damaged."""
        return self.fault.endswith("_after") or self.fault in SPOILED

    def damage(self, answer: Response | None) -> Response | None:
        """Return what the integrator gets in place of the answer, or None for no answer at all."""
        status = _STATUS.fullmatch(self.fault)
        if status is not None:
            code = int(status[1])
            headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
            text = self.error or _TEXTS.get(code, "internal server error")
            return JSONResponse({"error": text}, status_code=code, headers=headers)
        if self.fault == "html":
            return HTMLResponse(GATEWAY_PAGE, status_code=self.status)
        if answer is None or self.fault in DROPS:
            return None
        if self.fault == "truncated":
            return _with_body(answer, bytes(answer.body)[: len(answer.body) // 2])
        content = json.loads(bytes(answer.body))
        emptied: dict[str, object] = {name: [] for name in ("orders", "data") if isinstance(content.get(name), list)}
        return _with_body(answer, json.dumps(content | emptied).encode())


class FaultBook:
    """The configured faults, in the order in which they were added."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._ids = itertools.count(1)

    def add(self, wanted: Mapping[str, Any]) -> Fault:
        """Add a fault from the JSON of a control request.

        Raises:
            ControlRefusal: 400, it is invalid.
        """
        given = {"retry_after" if name == "retryAfter" else name: value for name, value in wanted.items()}
        named, name = (*DELAYS, *DROPS, *SPOILED), str(given.get("fault"))
        if name not in named and not _STATUS.fullmatch(name):
            raise ControlRefusal(400, f"fault must be one of {', '.join(named)}, or a status such as 503 or 500_after")
        try:
            fault = Fault(id=next(self._ids), **given)
        except TypeError:
            raise ControlRefusal(400, "unknown field of a fault") from None
        self._faults.append(fault)
        return fault

    def take(self, method: str, path: str) -> tuple[Fault, ...]:
        """Use up the faults of this request: all matching delays, and the first other fault."""
        meant = [fault for fault in self._faults if fault.applies_to(method, path)]
        delays = [fault for fault in meant if fault.fault in DELAYS]
        others = [fault for fault in meant if fault.fault not in DELAYS]
        taken = (*delays, *others[:1])
        for fault in taken:
            fault.used += 1
            fault.times = None if fault.times is None else fault.times - 1
        return taken

    def remove(self, fault_id: object = None) -> None:
        """Remove the fault with this id, or all of them."""
        self._faults = [fault for fault in self._faults if fault_id is not None and fault.id != fault_id]

    def as_json(self) -> list[dict[str, object]]:
        """Return all faults since the last clear, used up or not."""
        return [fault.as_json() for fault in self._faults]


class RequestLog:
    """Count requests by method and route, and by status. Routes leave out order ids, the latest paths don't."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._total = 0
        self._routes: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._recent: deque[dict[str, object]] = deque(maxlen=_RECENT)

    def add(self, method: str, path: str, status: int | str) -> None:
        """Log an answer, or that there was none (`DROPPED`)."""
        self._total += 1
        route = _ORDER_PATH.sub(r"\1/{id}", path)
        self._routes[f"{method} {route}"] += 1
        self._statuses[str(status)] += 1
        self._recent.append({"time": iso(self._clock()), "method": method, "path": path, "status": status})

    def as_json(self) -> dict[str, object]:
        """Return `total`, `routes`, `statuses`, and `recent`, newest first."""
        counted = {"routes": dict(self._routes), "statuses": dict(self._statuses)}
        return {"total": self._total, **counted, "recent": list(reversed(self._recent))}


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
        return answer if fault is None else fault.damage(answer)

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


def _with_body(answer: Response, body: bytes) -> Response:
    return Response(body, status_code=answer.status_code, media_type="application/json")
