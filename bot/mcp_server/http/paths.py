"""The routes: `/mcp` and `/healthz`. Everything else is answered here."""

from collections.abc import Callable, Mapping
from functools import partial

from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem

MCP, HEALTH = "/mcp", "/healthz"
MCP_ALLOWS, HEALTH_ALLOWS = {"allow": "POST, OPTIONS"}, {"allow": "GET, HEAD, OPTIONS"}
NO_STREAMS = {"jsonrpc": "2.0", "error": {"code": -32000, "message": "Method not allowed"}, "id": None}
"""Clients try GET for a stream of events and DELETE for a session. Neither exists where nothing is remembered."""


def create_router(mcp: ASGIApp, *, health: Mapping[str, object]) -> ASGIApp:
    """Return what sends calls to `mcp`, and answers the health check with `health`, which everyone may read."""
    return Router(
        [
            Route(MCP, mcp, methods=["POST"]),
            # No preflight is ever granted: pages of other hosts have no business here.
            Route(MCP, _Answer(partial(Response, status_code=204, headers=MCP_ALLOWS)), methods=["OPTIONS"]),
            Route(MCP, _Answer(partial(JSONResponse, NO_STREAMS, 405, MCP_ALLOWS))),
            Route(HEALTH, _Answer(partial(JSONResponse, dict(health))), methods=["GET"]),
            Route(HEALTH, _Answer(partial(Response, status_code=204, headers=HEALTH_ALLOWS)), methods=["OPTIONS"]),
            Route(HEALTH, _Answer(partial(problem, 405, "Method not allowed", HEALTH_ALLOWS))),
        ],
        default=_Answer(partial(problem, 404, "Not found")),
        # A redirect would be built from the Host header.
        redirect_slashes=False,
    )


class _Answer:
    """Gives the same answer to every request, once the request has been heard out."""

    def __init__(self, respond: Callable[[], Response]) -> None:
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await answer(self._respond(), scope, receive, send)
