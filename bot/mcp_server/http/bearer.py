"""Who may call tools: whoever has the one bearer token (agent tool server, 5.3)."""

import hmac

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem

log = structlog.get_logger(__name__)


class Bearer:
    """Refuses everybody else, in the same words whatever was wrong.

    Nothing is remembered of them: guessing 32 random bytes needs no counting, and a count could be used up.
    The SDK's check is for tokens of an OAuth server. It overlooks a second `Authorization` header, and doesn't hear the
    request out before it refuses it.
    """

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        if not token:
            raise ValueError("a server without a token would be open to everybody")
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on calls with the token."""
        if self._is_known([value for name, value in scope["headers"] if name == b"authorization"]):
            await self._app(scope, receive, send)
        else:
            log.debug("request_rejected", status=401)
            refusal = problem(401, "Unauthorized", {"www-authenticate": "Bearer"})
            await answer(refusal, scope, receive, send)

    def _is_known(self, credentials: list[bytes]) -> bool:
        if len(credentials) != 1:
            return False
        scheme, _, token = credentials[0].partition(b" ")
        return hmac.compare_digest(token, self._token) and scheme.lower() == b"bearer"
