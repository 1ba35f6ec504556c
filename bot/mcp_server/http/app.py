"""The whole http side as one ASGI application."""

import time
from collections.abc import Callable, Collection

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from bot.mcp_server.caller import Caller
from bot.mcp_server.http.bearer import Bearer
from bot.mcp_server.http.body import MOST_BYTES, Body
from bot.mcp_server.http.front import Front
from bot.mcp_server.http.hosts import Hosts
from bot.mcp_server.http.message import OneMessage
from bot.mcp_server.http.pace import Pace
from bot.mcp_server.http.paths import MCP, create_router


def create_app(
    server: MCPServer,
    *,
    token: str,
    allowed_hosts: Collection[str],
    per_minute: int,
    seconds: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """Build it; it serves while the server's session manager runs.

    Args:
        server: with its tools. Its name and version are what the health check tells.
        token: what every caller must have.
        allowed_hosts: for the `Host` header; none means any.
        per_minute: how many calls are taken in a minute.
        seconds: a clock that never goes back.
    """
    # Stateless and plain JSON: any call may come to any process, and none holds a connection open.
    sdk = server.streamable_http_app(
        streamable_http_path=MCP,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        # Said explicitly, as the default allows this machine alone. `Hosts` does it, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    calls = Bearer(Pace(Body(OneMessage(Caller(sdk))), per_minute=per_minute, seconds=seconds), token=token)
    health = {"ok": True, "name": server.name, "version": server.version}
    return Front(Hosts(create_router(calls, health=health), allowed=allowed_hosts))
