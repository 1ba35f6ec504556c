"""Kirim's tools on the sandbox service, called over http by the official client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from bot.core.clock import SystemClock
from bot.mcp_server.service import AgentRules, Service
from tests.mcp_server.agent_http import TOKEN, served
from tests.mcp_server.agent_server import tool_server
from tests.sandbox.settlement_service import Clock, SandboxService, sandbox_service
from tests.waiting import TIMEOUT_SECONDS

BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA"}
MODES = ("2026-07-28", "legacy", "auto")


@dataclass(slots=True)
class _Time(SystemClock):
    """The service's time, used by the tools as well."""

    clock: Clock

    def now(self) -> datetime:
        return self.clock.read()


@dataclass(slots=True)
class Tools:
    """The tools and the service behind them. `go_on` ends the service's delays."""

    address: str
    service: SandboxService
    go_on: asyncio.Event

    @asynccontextmanager
    async def client(
        self, mode: str = "auto", token: str = TOKEN, ask: ElicitationFnT | None = None
    ) -> AsyncIterator[Client]:
        """Yield the official client, connected. `ask` answers questions to its user."""
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, limits=httpx2.Limits(), timeout=TIMEOUT_SECONDS) as http:
            transport = streamable_http_client(f"{self.address}/mcp", http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=ask) as client:
                yield client


@asynccontextmanager
async def agent_tools(*, per_minute: int = 10_000) -> AsyncIterator[Tools]:
    """Serve the tools on a service of their own within the block."""
    go_on = asyncio.Event()

    async def wait(_seconds: float) -> None:
        await go_on.wait()

    async with (
        sandbox_service("documented", sleep=wait) as service,
        service.client() as client,
    ):
        clock = service.clock
        rules = AgentRules(network="bcrt")
        tools = Service(client, rules, clock=_Time(clock), seconds=clock.seconds, sleep=clock.sleep)
        async with served(tool_server(tools), per_minute=per_minute, seconds=service.clock.seconds) as address:
            yield Tools(address, service, go_on)


async def call_tool(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Return the typed content of a call that must succeed."""
    result = await client.call_tool(tool, dict(arguments))
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content or {}
    return content


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """Return the error text of a call that must fail."""
    result = await client.call_tool(tool, dict(arguments))
    assert isinstance(result, CallToolResult)
    assert result.is_error
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text
