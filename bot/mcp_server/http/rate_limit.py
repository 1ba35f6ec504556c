"""The rate limit of `POST /mcp` (agent tool server, 8), and the headers that report it to clients."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.mcp_server.http.responses import error_response

log = structlog.get_logger(__name__)

MINUTE = 60


@dataclass(frozen=True, slots=True)
class LimitState:
    """The limit after one call.

    Attributes:
        is_granted: whether the call is within the limit.
        remaining: how many more calls are possible right now.
        reset_seconds: whole seconds until one more call becomes possible, 1 to 60.
    """

    is_granted: bool
    remaining: int
    reset_seconds: int


class CallLimit:
    """Up to `limit` calls in any 60 seconds. Rejected calls don't count."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._granted_at: deque[float] = deque()

    def take(self, now: float) -> LimitState:
        """Count a call if it is within the limit. `now` is in monotonic seconds."""
        while self._granted_at and self._granted_at[0] <= now - MINUTE:
            self._granted_at.popleft()
        is_granted = len(self._granted_at) < self.limit
        if is_granted:
            self._granted_at.append(now)
        seconds = math.ceil(self._granted_at[0] + MINUTE - now)
        return LimitState(is_granted, self.limit - len(self._granted_at), max(1, min(seconds, MINUTE)))


class RateLimitMiddleware:
    """Rejects calls above the limit.

    Every answer reports the limit in the `RateLimit` fields of the IETF's draft 7. This layer is behind the bearer
    token, so calls without the token don't use up the limit. There is one token, and so one limit.
    """

    def __init__(self, app: ASGIApp, *, per_minute: int, seconds: Callable[[], float]) -> None:
        self._app = app
        self._limit = CallLimit(per_minute)
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a call within the limit."""
        state = self._limit.take(self._seconds())

        async def send_with_limit(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers(state)]
            await send(message)

        if state.is_granted:
            await self._app(scope, receive, send_with_limit)
            return
        log.info("request_rejected", status=429)
        response = error_response(429, "Too many requests", {"retry-after": str(state.reset_seconds)})
        await response(scope, receive, send_with_limit)

    def _headers(self, state: LimitState) -> list[tuple[bytes, bytes]]:
        limit = self._limit.limit
        value = f"limit={limit}, remaining={state.remaining}, reset={state.reset_seconds}"
        return [(b"ratelimit", value.encode()), (b"ratelimit-policy", f"{limit};w={MINUTE}".encode())]
