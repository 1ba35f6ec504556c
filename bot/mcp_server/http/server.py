"""The http server: its ASGI application, its routes `/mcp` and `/healthz`, and its start and shutdown."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, closing
from functools import partial

import structlog
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.infra.http import ports
from bot.infra.http import server as web
from bot.mcp_server.caller import DisconnectMiddleware
from bot.mcp_server.config import AgentSettings
from bot.mcp_server.http.access import BearerMiddleware, HostMiddleware
from bot.mcp_server.http.bodies import MAX_BYTES, BodyMiddleware, MessageMiddleware
from bot.mcp_server.http.rate_limit import RateLimitMiddleware
from bot.mcp_server.http.responses import ErrorMiddleware, error_response
from bot.mcp_server.http.streams import StreamRouter

log = structlog.get_logger(__name__)

ENDS_WITHIN_SECONDS = 4
"""A running call can be an order. Most services have answered after this time."""

MCP, HEALTH = "/mcp", "/healthz"
MCP_ALLOWS, HEALTH_ALLOWS = {"allow": "POST, OPTIONS"}, {"allow": "GET, HEAD, OPTIONS"}
NO_STREAMS = {"jsonrpc": "2.0", "error": {"code": -32000, "message": "Method not allowed"}, "id": None}
"""Clients try GET for an event stream and DELETE for a session. A server without sessions has neither."""


async def serve(server: MCPServer, settings: AgentSettings, stop: asyncio.Event) -> int:
    """Serve until `stop` is set. Return the process's exit code.

    Raises:
        ports.PortTaken: the port can't be opened.
    """
    application = running_app(
        server,
        token=settings.bearer,
        allowed_hosts=settings.service_mcp_allowed_hosts,
        per_minute=settings.service_mcp_rate_limit_per_minute,
    )
    with closing(await ports.bind(settings.service_mcp_host, settings.http_port)) as listener:
        host, port = listener.getsockname()[:2]
        async with application as app, web.serve(app, listener, close_seconds=ENDS_WITHIN_SECONDS):
            log.info("server_started", pid=os.getpid(), host=host, port=port, name=server.name)
            await stop.wait()
    log.info("server_stopped")
    return 0


@asynccontextmanager
async def running_app(
    server: MCPServer,
    *,
    token: str,
    allowed_hosts: Collection[str],
    per_minute: int,
    seconds: Callable[[], float] = time.monotonic,
) -> AsyncIterator[ASGIApp]:
    """Yield the application. It can serve within the block.

    Args:
        server: with its tools. The health check returns its name and version.
        token: the bearer token that every caller needs.
        allowed_hosts: for the `Host` header. An empty collection allows any.
        per_minute: the maximum calls in a minute.
        seconds: a monotonic clock.
    """
    async with _running_sdk(server, json_response=True) as plain, _running_sdk(server, json_response=False) as streams:
        bodies = BodyMiddleware(MessageMiddleware(DisconnectMiddleware(StreamRouter(plain, streams))))
        calls = BearerMiddleware(RateLimitMiddleware(bodies, per_minute=per_minute, seconds=seconds), token=token)
        health = {"ok": True, "name": server.name, "version": server.version}
        yield ErrorMiddleware(HostMiddleware(_create_router(calls, health=health), allowed=allowed_hosts))


@asynccontextmanager
async def _running_sdk(server: MCPServer, *, json_response: bool) -> AsyncIterator[ASGIApp]:
    """Yield the SDK's application, which answers calls in plain JSON or as streams of events."""
    sdk = server.streamable_http_app(
        streamable_http_path=MCP,
        json_response=json_response,
        # Without sessions, any process can handle any call.
        stateless_http=True,
        max_request_body_size=MAX_BYTES,
        # The SDK's default allows only this machine. `HostMiddleware` checks hosts instead, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with server.session_manager.run():
        yield sdk


def _create_router(mcp: ASGIApp, *, health: Mapping[str, object]) -> ASGIApp:
    """Return a router that sends calls to `mcp` and answers the health check with `health`, which is public."""
    return Router(
        [
            Route(MCP, mcp, methods=["POST"]),
            # No preflight is granted, because pages of other hosts can't call the tools.
            Route(MCP, _FixedAnswer(partial(Response, status_code=204, headers=MCP_ALLOWS)), methods=["OPTIONS"]),
            Route(MCP, _FixedAnswer(partial(JSONResponse, NO_STREAMS, 405, MCP_ALLOWS))),
            Route(HEALTH, _FixedAnswer(partial(JSONResponse, dict(health))), methods=["GET"]),
            Route(HEALTH, _FixedAnswer(partial(Response, status_code=204, headers=HEALTH_ALLOWS)), methods=["OPTIONS"]),
            Route(HEALTH, _FixedAnswer(partial(error_response, 405, "Method not allowed", HEALTH_ALLOWS))),
        ],
        default=_FixedAnswer(partial(error_response, 404, "Not found")),
        # A redirect would be built from the Host header.
        redirect_slashes=False,
    )


class _FixedAnswer:
    """Gives the same answer to every request."""

    def __init__(self, respond: Callable[[], Response]) -> None:
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        await self._respond()(scope, receive, send)
