"""The hosts and origins that are accepted over http (protection against DNS rebinding)."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.mcp_server.agent_http import ToolServer, open_tool_server

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tool_server() -> AsyncIterator[ToolServer]:
    """Yield a server that accepts any host."""
    async with open_tool_server() as tool_server:
        yield tool_server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def restricted() -> AsyncIterator[ToolServer]:
    """Yield a server that accepts only some hosts."""
    async with open_tool_server(allowed=("tools.example", "10.0.0.7:3333", "[::1]")) as tool_server:
        yield tool_server


@pytest.mark.parametrize(
    ("host", "comes_in"),
    [
        ("tools.example", True),
        ("tools.example:443", True),
        ("TOOLS.example:8443", True),
        ("10.0.0.7:3333", True),
        ("[::1]", True),
        ("[::1]:3333", True),
        ("10.0.0.7", False),
        ("10.0.0.7:3334", False),
        ("127.0.0.1:3333", False),
        ("localhost", False),
        ("evil.example", False),
        ("tools.example.evil.example", False),
        ("eviltools.example", False),
        ("tools.example.", False),
        ("tools.example:evil", False),
        ("tools.example:443:443", False),
        ("tools.example@evil.example", False),
        ("evil.example/tools.example", False),
        ("tools.example, evil.example", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/else"])
async def test_only_hosts_on_the_list_may_be_asked_for(
    restricted: ToolServer, host: str, path: str, *, comes_in: bool
) -> None:
    answer = await restricted.browser.request("POST" if path == "/mcp" else "GET", path, headers={"host": host})
    if comes_in:
        assert answer.status_code == {"/mcp": 401, "/healthz": 200, "/else": 404}[path]
    else:
        assert (answer.status_code, answer.json()) == (403, {"error": "Host not allowed"})


@pytest.mark.parametrize("host", ["127.0.0.1:1", "kirim.example", "any.where:99"])
async def test_without_a_list_any_host_may_be_asked_for(tool_server: ToolServer, host: str) -> None:
    assert (await tool_server.calls(host=host)).status_code == 200


@pytest.mark.parametrize(
    ("origin", "comes_in"),
    [
        ("https://tools.example", True),
        ("http://tools.example:8080", True),
        ("https://evil.example", False),
        ("https://tools.example.evil.example", False),
        ("https://tools.example/path", False),
        ("https://user@tools.example", False),
        ("ftp://tools.example", False),
        ("tools.example", False),
        ("null", False),
        ("http://[", False),
        ("https://", False),
        ("", False),
    ],
)
async def test_only_pages_of_hosts_on_the_list_may_ask(restricted: ToolServer, origin: str, *, comes_in: bool) -> None:
    answer = await restricted.calls(host="tools.example", origin=origin)
    if comes_in:
        assert answer.status_code == 200
    else:
        assert (answer.status_code, answer.json()) == (403, {"error": "Origin not allowed"})
