"""Kirim's tools over http in a separate process, and the official client."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.e2e.programs import RunningProgram, running_program
from tests.ports import free_port
from tests.waiting import TIMEOUT_SECONDS

TOKEN = "wG7pXkq2sVd4yB0nTz-3fLr8hJc5mE_aUo1QvSiN6Kw"


@dataclass(frozen=True, slots=True)
class ToolServer:
    """The process that serves the tools, its address, and a plain HTTP client."""

    program: RunningProgram
    address: str
    browser: httpx.AsyncClient

    @asynccontextmanager
    async def client(self, mode: str = "auto") -> AsyncIterator[Client]:
        """Yield the official client."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http:
            transport = streamable_http_client(f"{self.address}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client


def tool_settings(service: str, **more: str) -> dict[str, str]:
    """Return the settings for serving the tools over http."""
    return {
        "SERVICE_API_KEY": SANDBOX_API_KEY,
        "SERVICE_BASE_URL": service,
        "INVOICE_NETWORK": "bcrt",
        "SERVICE_MCP_TRANSPORT": "http",
        "SERVICE_MCP_HTTP_TOKEN": TOKEN,
        **more,
    }


@asynccontextmanager
async def running_tool_server(
    folder: Path, settings: Mapping[str, str], *, host: str = "127.0.0.1", port: int | None = None, cold: bool = False
) -> AsyncIterator[ToolServer]:
    """Serve the tools within the block, on any port unless the settings name one."""
    port = port or free_port()
    given = {"SERVICE_MCP_PORT": str(port), **settings}
    async with running_program(folder, "mcp", environment=given, cold=cold) as program:
        if settings.get("SERVICE_MCP_LOG_LEVEL") not in {"warn", "error"}:
            await program.says('"event": "server_started"')
        address = f"http://{host}:{port}"
        async with httpx.AsyncClient(base_url=address) as browser:
            yield ToolServer(program, address, browser)
