"""What there is: `/mcp` and `/healthz`. Everything else is answered here."""

from collections.abc import Mapping

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem

MCP, HEALTH = "/mcp", "/healthz"
METHODS = {MCP: ("POST", "OPTIONS"), HEALTH: ("GET", "HEAD", "OPTIONS")}
NOT_ALLOWED = -32000


class Paths:
    """Sends calls to `mcp`, and answers the health check with `health`, which anybody may read."""

    def __init__(self, mcp: ASGIApp, *, health: Mapping[str, object]) -> None:
        self._mcp = mcp
        self._health = dict(health)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on."""
        if scope["path"] == MCP and scope["method"] == "POST":
            await self._mcp(scope, receive, send)
        else:
            await answer(self._response(scope["path"], scope["method"]), scope, receive, send)

    def _response(self, path: str, method: str) -> Response:
        if path not in METHODS:
            return problem(404, "Not found")
        allow = {"allow": ", ".join(METHODS[path])}
        if method not in METHODS[path]:
            return _no_streams(allow) if path == MCP else problem(405, "Method not allowed", allow)
        # No preflight is ever granted: pages of other hosts have no business here.
        return Response(status_code=204, headers=allow) if method == "OPTIONS" else JSONResponse(self._health)


def _no_streams(allow: Mapping[str, str]) -> Response:
    """Clients try GET for a stream of events and DELETE for a session; neither exists where nothing is remembered."""
    error = {"code": NOT_ALLOWED, "message": "Method not allowed"}
    return JSONResponse({"jsonrpc": "2.0", "error": error, "id": None}, 405, allow)
