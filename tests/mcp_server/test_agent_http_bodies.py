"""Bodies that are too large, too slow, cut off or never requested."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from bot.infra.http import server as web
from bot.mcp_server import http
from tests.mcp_server.agent_http import LIST_TOOLS, TOKEN, ToolServer, open_tool_server
from tests.waiting import TIMEOUT_SECONDS

HEAD = f"POST /mcp HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n"
LIMIT = web.MAX_BODY_BYTES
ENDLESS = "transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n"


def _call_of(size: int) -> bytes:
    said = LIST_TOOLS | {"params": {"_meta": {"filler": ""}}}
    text = str(said).replace("'", '"')
    return text.replace('"filler": ""', f'"filler": "{"x" * (size - len(text))}"').encode()


async def _in_chunks(content: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(content), 65_536):
        yield content[begin : begin + 65_536]


@pytest.mark.parametrize(
    ("size", "status"), [(web.MAX_BODY_BYTES, 200), (web.MAX_BODY_BYTES + 1, 413), (5_000_000, 413)]
)
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_is_taken_up_to_the_limit_and_no_further(size: int, status: int, *, announced: bool) -> None:
    content = _call_of(size)
    assert len(content) == size
    async with open_tool_server() as tool_server:
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "accept": "*/*"}
        given = content if announced else _in_chunks(content)
        answer = await tool_server.browser.post("/mcp", content=given, headers=headers)
        assert answer.status_code == status
        assert "ratelimit" in answer.headers
        if status == 413:
            assert str(LIMIT) in answer.json()["error"]
        assert (await tool_server.calls()).status_code == 200, "the next call is none the worse for it"


@pytest.mark.parametrize("rest", [ENDLESS, "content-length: 100\r\n\r\n{"])
async def test_a_body_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch, rest: str) -> None:
    monkeypatch.setattr(web, "BODY_SECONDS", 0.05)
    async with open_tool_server() as tool_server:
        said = await _all_that_is_said(tool_server, (HEAD + rest).encode())
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b'{"error":"Request body too slow"}' in said


async def _all_that_is_said(tool_server: ToolServer, raw: bytes) -> bytes:
    """Return everything until the server closes the connection, which it must."""
    reader, writer = await asyncio.open_connection("127.0.0.1", tool_server.port)
    writer.write(raw)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await reader.read()
    finally:
        writer.close()


async def test_a_failure_is_answered_and_its_text_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("no 081234567890 of Wulandari")

    monkeypatch.setattr(http, "_pass_on", broken)
    async with open_tool_server() as tool_server:
        with capture_logs() as logged:
            answer = await tool_server.calls()
    assert (answer.status_code, answer.json()) == (500, {"error": "Internal server error"})
    assert [entry["event"] for entry in logged] == ["request_failed"]
    assert "Wulandari" not in str(logged)
