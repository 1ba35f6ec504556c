"""Which requests the agent tool server accepts over http, and how it rejects the others."""

import json
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from mcp.server.mcpserver import MCPServer

from bot.mcp_server.http import running_app
from tests.mcp_server.agent_http import CALL_HEADERS, LIST_TOOLS, TOKEN, ToolServer, call, open_tool_server

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


@pytest.mark.parametrize(
    ("method", "path", "status", "said", "allow"),
    [
        ("GET", "/mcp", 405, {"error": "Method not allowed"}, "POST"),
        ("DELETE", "/mcp", 405, {"error": "Method not allowed"}, "POST"),
        ("PUT", "/mcp", 405, {"error": "Method not allowed"}, "POST"),
        ("HEAD", "/mcp", 405, None, "POST"),
        ("OPTIONS", "/mcp", 405, {"error": "Method not allowed"}, "POST"),
        ("POST", "/healthz", 405, {"error": "Method not allowed"}, "GET, HEAD"),
        ("OPTIONS", "/healthz", 405, {"error": "Method not allowed"}, "GET, HEAD"),
        ("GET", "/", 404, {"error": "Not found"}, None),
        ("GET", "/.well-known/oauth-protected-resource", 404, {"error": "Not found"}, None),
        ("POST", "//mcp", 404, {"error": "Not found"}, None),
    ],
)
@pytest.mark.parametrize("authorized", [True, False])
async def test_what_there_is_not_is_said_so(  # noqa: PLR0917  a row of the table
    tool_server: ToolServer, method: str, path: str, status: int, said: object, allow: str | None, *, authorized: bool
) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"} if authorized else {}
    answer = await tool_server.browser.request(method, tool_server.address + path, headers=headers)
    assert answer.status_code == status
    assert answer.headers.get("allow") == allow
    assert (answer.json() if answer.content else None) == said
    assert not any(name.startswith("access-control-") for name in answer.headers)


async def test_answers_are_kept_by_nobody(tool_server: ToolServer) -> None:
    for answer in (
        await tool_server.calls(),
        await tool_server.browser.get("/healthz"),
        await tool_server.browser.get("/else"),
    ):
        assert answer.headers.get_list("cache-control") == ["no-store"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


# Bearer


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_may_be_written_in_any_case(tool_server: ToolServer, scheme: str) -> None:
    assert (await tool_server.calls(authorization=f"{scheme} {TOKEN}")).status_code == 200


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


async def test_two_bearers_are_none(tool_server: ToolServer) -> None:
    right, wrong = f"Bearer {TOKEN}", "Bearer nonsense"
    for pair in ([right, wrong], [wrong, right], [right, right]):
        headers = [("authorization", value) for value in pair]
        answer = await tool_server.browser.post("/mcp", content=b"{}", headers=headers)
        assert answer.status_code == 401


async def test_a_token_elsewhere_is_no_bearer(tool_server: ToolServer) -> None:
    answer = await tool_server.browser.post(f"/mcp?access_token={TOKEN}", headers={"x-api-key": TOKEN})
    assert answer.status_code == 401


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


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", json.dumps({"jsonrpc": "2.0"}).encode()])
async def test_nonsense_counts_and_is_told_how_it_stands(tool_server: ToolServer, content: bytes) -> None:
    before = _remaining(await tool_server.calls())
    answer = await tool_server.calls(content=content)
    assert 400 <= answer.status_code < 500
    assert _remaining(answer) == before - 1


def _remaining(answer: httpx.Response) -> int:
    return int(answer.headers["ratelimit"].split("remaining=")[1].split(",")[0])


async def test_every_error_is_json_and_a_slash_or_no_accept_make_no_difference(tool_server: ToolServer) -> None:
    for path in ("/mcp", "/mcp/"):
        for accept in (None, "", "*/*", "application/json"):
            kept = {name: value for name, value in (CALL_HEADERS | {"accept": accept}).items() if value is not None}
            request = tool_server.browser.build_request("POST", path, json=LIST_TOOLS, headers=kept)
            if accept is None:
                del request.headers["accept"]
            answer = await tool_server.browser.send(request)
            assert answer.status_code == 200, (path, accept)
            assert answer.json()["result"]["tools"]
    refused = [
        await tool_server.calls(content_type=None),
        await tool_server.calls(content_type="text/plain"),
        await tool_server.calls(accept="text/html"),
        await tool_server.calls(content=b"{"),
        await tool_server.browser.get("/nowhere"),
        await tool_server.browser.put("/mcp"),
    ]
    assert [each.status_code for each in refused] == [415, 415, 406, 400, 404, 405]
    for each in refused:
        assert each.headers["content-type"].startswith("application/json")
        assert "error" in each.json()
