"""An agent with the official client, our tool server in the same process, and the sandbox's settlement service."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp_types import TextContent, TextResourceContents

from bot.mcp_server.service import AgentRules, Service
from tests.mcp_server.agent_server import schemas_checked_once, tool_server
from tests.sandbox.settlement_service import SandboxService, sandbox_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime

    from mcp.client.session import ElicitationFnT
    from mcp_types import CallToolResult

    from bot.settlement.client import SettlementClient

    Sleep = Callable[[float], Awaitable[None]]

BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA", "recipientDetails": "1234567890"}
POST, ORDERS = "POST", "/v1/offramp/orders"
RULES = AgentRules(network="bcrt")


@dataclass(slots=True)
class ServiceClock:
    """The service's time, used by the tool server as well."""

    service: SandboxService

    def now(self) -> datetime:
        return self.service.clock.now


@dataclass(slots=True)
class AgentSystem:
    """An agent's client, the tool server, and the service's control endpoints."""

    agent: Client
    service: SandboxService
    tools: Service

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Return the answer of a call."""
        return await self.agent.call_tool(tool, arguments)

    async def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the typed content of a call that must succeed.

        The official client raises if it doesn't match the schema.
        """
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        content: dict[str, Any] = result.structured_content
        assert content is not None
        assert text_of(result)
        return content

    async def fails(self, tool: str, **arguments: Any) -> str:
        """Return the error text of a call that must fail."""
        result = await self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return text_of(result)

    async def orders(self, **changes: Any) -> dict[str, Any]:
        """Create an order for 150,000 rupiah to BCA, or as changed."""
        return await self.does("create_offramp_order", **{"idrAmount": 150_000, **BCA, **changes})

    async def is_refused(self, **changes: Any) -> str:
        """Create the same order, which must fail."""
        return await self.fails("create_offramp_order", **{"idrAmount": 150_000, **BCA, **changes})

    async def destination(self, name: str) -> dict[str, str]:
        """Return an entry of the live list, as create_offramp_order accepts it."""
        listed = (await self.does("list_payout_methods"))["methods"]
        return next(
            {"partnerBankCode": method["bankCode"], "partnerBankName": name}
            for method in listed
            if method["bankName"] == name
        )

    async def resource(self, uri: str) -> str:
        """Return a resource's text."""
        (content,) = (await self.agent.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    async def prompt(self, **arguments: str) -> str:
        """Return the prompt's text."""
        (message,) = (await self.agent.get_prompt("send_rupiah", arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    async def posts(self) -> int:
        """Return how many creations the service received."""
        return len(await self.service.list_requests(POST, ORDERS))

    async def pays(self, order: dict[str, Any]) -> None:
        await self.service.control(POST, "/pay", orderId=order["orderId"])

    async def switches(self, **settings: object) -> None:
        await self.service.control(POST, "/settings", **settings)


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


@contextlib.asynccontextmanager
async def in_one_task(client: Client) -> AsyncIterator[Client]:
    """Enter and leave a client in one task, as it requires: fixtures begin and end in two."""
    ready, done = asyncio.Event(), asyncio.Event()

    async def stay_open() -> None:
        try:
            async with client:
                ready.set()
                await done.wait()
        finally:
            ready.set()

    open_task = asyncio.create_task(stay_open())
    await ready.wait()
    try:
        yield client
    finally:
        done.set()
        await open_task


@contextlib.asynccontextmanager
async def open_agent_system(
    profile: str,
    *,
    api_key: str | None = None,
    mode: str = "auto",
    sleep: Sleep | None = None,
    ask: ElicitationFnT | None = None,
    rules: AgentRules = RULES,
) -> AsyncIterator[AgentSystem]:
    """Yield a system in one of the service's profiles, without orders.

    `sleep` replaces the service's delays. `ask` answers the questions to the agent's user.
    """
    async with sandbox_service(profile, sleep=sleep) as service:
        key = {"api_key": api_key} if api_key else {}
        async with service.client(**key) as client, _new_process(service, client, mode, ask, rules) as system:
            yield system


@contextlib.asynccontextmanager
async def restarted(system: AgentSystem) -> AsyncIterator[AgentSystem]:
    """Yield the same system with a new tool server process, which remembers nothing."""
    async with _new_process(system.service, system.tools._client) as another:
        yield another


@contextlib.asynccontextmanager
async def _new_process(
    service: SandboxService,
    client: SettlementClient,
    mode: str = "auto",
    ask: ElicitationFnT | None = None,
    rules: AgentRules = RULES,
) -> AsyncIterator[AgentSystem]:
    tools = Service(
        client,
        rules,
        clock=ServiceClock(service),
        seconds=service.clock.seconds,
        sleep=service.clock.sleep,
    )
    with schemas_checked_once():
        async with in_one_task(Client(tool_server(tools), mode=mode, elicitation_callback=ask)) as agent:
            yield AgentSystem(agent, service, tools)
