"""The http transport's life: it takes its port, serves until it is to stop, and lets go of it within seconds."""

import asyncio
from contextlib import closing

import structlog
from mcp.server.mcpserver import MCPServer

from bot.infra.http import server as web
from bot.mcp_server.config import AgentSettings
from bot.mcp_server.http.app import create_app

log = structlog.get_logger(__name__)

ENDS_WITHIN_SECONDS = 4
"""Calls under way may be orders: most services have answered by then."""


async def serve(server: MCPServer, settings: AgentSettings, stop: asyncio.Event) -> int:
    """Serve until `stop` is set; the process's exit code.

    Raises:
        web.PortTaken: it can't listen where it was told to.
    """
    app = create_app(
        server,
        token=settings.bearer,
        allowed_hosts=settings.service_mcp_allowed_hosts,
        per_minute=settings.service_mcp_rate_limit_per_minute,
    )
    with closing(await web.bind(settings.service_mcp_host, settings.http_port)) as listener:
        host, port = listener.getsockname()[:2]
        async with server.session_manager.run(), web.serving(app, listener, ends_within=ENDS_WITHIN_SECONDS):
            log.info("server_started", host=host, port=port, name=server.name)
            await stop.wait()
    log.info("server_stopped")
    return 0
