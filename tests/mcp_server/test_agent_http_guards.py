"""Which requests the agent tool server accepts over http, and how it rejects the others."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from mcp.server.mcpserver import MCPServer

from bot.mcp_server.http import running_app
from tests.mcp_server.agent_http import TOKEN, ToolServer, call, open_tool_server

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tool_server() -> AsyncIterator[ToolServer]:
    """Yield a server that accepts any host."""
    async with open_tool_server() as tool_server:
        yield tool_server


async def test_whoever_has_the_bearer_gets_through(tool_server: ToolServer) -> None:
    answer = await tool_server.calls(call("repeat", text="Halo"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["structuredContent"] == {"result": "Halo"}
    assert "mcp-session-id" not in answer.headers


async def test_the_health_check_needs_no_bearer(tool_server: ToolServer) -> None:
    answer = await tool_server.browser.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "name": "Tools of a test", "version": "1.2.3"}
    head = await tool_server.browser.head("/healthz")
    assert (head.status_code, head.content) == (200, b"")


# Bearer


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        TOKEN,
        f"Bearer{TOKEN}",
        f"Bearer  {TOKEN}",
        f"Bearer\t{TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}A",
        f"Bearer {TOKEN}=",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN}, Bearer {TOKEN}",
        f"Bearer {TOKEN.lower()}",
        f"Bearer {TOKEN[::-1]}",
        f'Bearer "{TOKEN}"',
        f"Basic {TOKEN}",
        f"Token {TOKEN}",
        f"Bearer {'A' * 30_000}",
        "Bearer ÿþ",
    ],
)
async def test_whoever_has_not_the_bearer_is_refused_in_the_same_words(
    tool_server: ToolServer, given: str | None
) -> None:
    answer = await tool_server.browser.post(
        "/mcp", content=b"{}", headers=[] if given is None else [(b"Authorization", given.encode("latin-1"))]
    )
    assert answer.status_code == 401
    assert answer.json() == {"error": "Unauthorized"}
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "ratelimit" not in answer.headers


async def test_a_server_without_a_token_is_not_made() -> None:
    with pytest.raises(ValueError, match="open to everybody"):
        async with running_app(MCPServer(name="open"), token="", allowed_hosts=(), per_minute=1):
            raise AssertionError


# Rate limit


async def test_the_share_is_told_and_kept_to() -> None:
    async with open_tool_server(per_minute=3) as tool_server:
        limits = []
        for passed in (0, 10, 10, 10.5, 0):
            tool_server.clock.now += passed
            answer = await tool_server.calls()
            limits.append((answer.status_code, answer.headers["ratelimit"], answer.headers.get("retry-after")))
            assert answer.headers["ratelimit-policy"] == "3;w=60"
        assert limits == [
            (200, "limit=3, remaining=2, reset=60", None),
            (200, "limit=3, remaining=1, reset=50", None),
            (200, "limit=3, remaining=0, reset=40", None),
            (429, "limit=3, remaining=0, reset=30", "30"),
            (429, "limit=3, remaining=0, reset=30", "30"),
        ]
        assert answer.json() == {"error": "Too many requests"}
        tool_server.clock.now += 30
        assert (await tool_server.calls()).status_code == 200


async def test_nobody_but_the_bearer_takes_of_the_share() -> None:
    async with open_tool_server(per_minute=2) as tool_server:
        for number in range(50):
            assert (await tool_server.calls(authorization=f"Bearer {number}")).status_code == 401
            assert (await tool_server.browser.get("/healthz")).status_code == 200
            assert (await tool_server.calls(host="kirim.example", origin="https://evil.example")).status_code == 403
        assert (await tool_server.calls()).headers["ratelimit"].startswith("limit=2, remaining=1,")
