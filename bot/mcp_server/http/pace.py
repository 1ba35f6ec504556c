"""The rate limit on `POST /mcp` (agent tool server, 8), and the headers that let clients keep to it."""

from collections.abc import Callable

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem
from bot.mcp_server.http.share import MINUTE, Share, Standing

log = structlog.get_logger(__name__)


class Pace:
    """Lets through as many calls as the bearer's share allows.

    Every answer says how it stands, in the `RateLimit` fields of the IETF's draft 7. It has its place behind the
    bearer: there is one, so there is one share, and nobody else can take of it.
    """

    def __init__(self, app: ASGIApp, *, per_minute: int, seconds: Callable[[], float]) -> None:
        self._app = app
        self._share = Share(per_minute)
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a call that is within the limit."""
        standing = self._share.take(self._seconds())

        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers(standing)]
            await send(message)

        if standing.granted:
            await self._app(scope, receive, telling)
            return
        log.info("request_rejected", status=429)
        refusal = problem(429, "Too many requests", {"retry-after": str(standing.seconds)})
        await answer(refusal, scope, receive, telling)

    def _headers(self, standing: Standing) -> list[tuple[bytes, bytes]]:
        limit = self._share.limit
        state = f"limit={limit}, remaining={standing.remaining}, reset={standing.seconds}"
        return [(b"ratelimit", state.encode()), (b"ratelimit-policy", f"{limit};w={MINUTE}".encode())]
