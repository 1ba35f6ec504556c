"""The transport against servers that fail below HTTP: what certainly wasn't sent, and what may have been."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from telegram.request import RequestData
from telegram.request._requestparameter import RequestParameter

from bot.infra.telegram.inbound.receiver import UpdatePoller
from bot.infra.telegram.outcomes import SlowDown, Unanswered, Unsent
from bot.infra.telegram.transport import TelegramRequest
from tests.waiting import TIMEOUT_SECONDS

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SECRET = "424242:" + "s" * 35


@asynccontextmanager
async def server(handle: Handler) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/bot{SECRET}"


def answering(body: bytes, status: str = "200 OK", length: int | None = None) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {length or len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    return handle


async def hanging_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.abort()


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


def record_first_request(handle: Handler) -> tuple[asyncio.Event, Handler]:
    """Return the same handler, and the event of its first request."""
    asked = asyncio.Event()

    async def recorded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await handle(reader, writer)

    return asked, recorded


async def call(address: str, **timeouts: float) -> object:
    async with TelegramRequest(**timeouts) as request:  # type: ignore[arg-type]
        return await request.post(f"{address}/sendMessage")


@pytest.mark.parametrize(
    "misbehaving",
    [
        hanging_up,
        resetting,
        answering(b'{"ok": true, "resu', length=400),
        answering(b"<html>hotel wifi: please log in</html>"),
        answering(b""),
        answering(b'["not", "an", "object"]'),
        answering(b'{"ok": true}'),
        answering(b"oops", "500 Internal Server Error"),
        answering(b"<html>bad gateway</html>", "502 Bad Gateway"),
        answering(b'{"ok":false,"error_code":504,"description":"x"}', "504 Gateway Timeout"),
        answering(b"nonsense", "not a status"),
    ],
)
async def test_whatever_happens_after_the_request_was_written_may_have_arrived(misbehaving: Handler) -> None:
    async with server(misbehaving) as address:
        with pytest.raises(Unanswered) as failure:
            await call(address)
    assert SECRET not in f"{failure.value}"
    assert failure.value.__cause__ is None


async def test_silence_may_mean_that_it_arrived() -> None:
    async with server(silent) as address:
        with pytest.raises(Unanswered):
            await call(address, read_timeout=0.1)


@pytest.mark.parametrize(
    "address", [f"http://127.0.0.1:1/bot{SECRET}", f"http://no-such-host.invalid/bot{SECRET}", f"nonsense:{SECRET}"]
)
async def test_a_server_that_is_not_there_got_nothing(address: str) -> None:
    with pytest.raises(Unsent) as failure:
        await call(address)
    assert SECRET not in f"{failure.value}"
    assert failure.value.__cause__ is None


async def test_waiting_in_vain_for_a_free_connection_sent_nothing() -> None:
    asked, handle = record_first_request(silent)
    async with server(handle) as address, TelegramRequest(connections=1, read_timeout=2 * TIMEOUT_SECONDS) as request:
        first = asyncio.create_task(request.post(f"{address}/sendMessage"))
        await asked.wait()
        with pytest.raises(Unsent):
            await request.post(f"{address}/sendMessage", pool_timeout=0.05, connect_timeout=0.05)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_lease_that_ends_while_a_request_waits_for_a_connection_ends_the_request() -> None:
    asked, handle = record_first_request(silent)
    is_held = True
    async with (
        server(handle) as address,
        TelegramRequest(connections=1, read_timeout=2 * TIMEOUT_SECONDS, may_call=lambda: is_held) as request,
    ):
        first = asyncio.create_task(request.post(f"{address}/sendMessage"))
        await asked.wait()
        asked.clear()
        second = asyncio.create_task(request.post(f"{address}/sendMessage"))
        await asyncio.sleep(0.05)  # it waits for the connection
        is_held = False
        first.cancel()
        with pytest.raises(Unsent, match="no longer acts"):
            await second
        await asyncio.gather(first, return_exceptions=True)
    assert not asked.is_set()


@pytest.mark.parametrize(("parameters", "checked_before"), [(None, 1), ({"chat_id": 1}, 1), ({"chat_id": 1}, 2)])
async def test_a_lease_that_ends_when_the_connection_is_there_ends_the_request(
    parameters: dict[str, int] | None, checked_before: int
) -> None:
    asked, handle = record_first_request(silent)
    checks = iter([True] * checked_before)
    async with (
        server(handle) as address,
        TelegramRequest(may_call=lambda: next(checks, False)) as request,
    ):
        given = [RequestParameter.from_input(*each) for each in (parameters or {}).items()]
        data = RequestData(given) if given else None
        with pytest.raises(Unsent, match="no longer acts"):
            await request.post(f"{address}/sendMessage", data)
    assert not asked.is_set()


@pytest.mark.parametrize(
    ("body", "seconds"),
    [(b'{"ok":false,"parameters":{"retry_after":13}}', 13.0), (b"<html>", 5.0), (b'{"parameters":{}}', 5.0)],
)
async def test_a_429_says_how_long_to_wait_or_a_little(body: bytes, seconds: float) -> None:
    async with server(answering(body, "429 Too Many Requests")) as address:
        with pytest.raises(SlowDown) as refused:
            await call(address)
    assert refused.value.seconds == seconds


@pytest.mark.parametrize("hours", [-1, 0, 1])
async def test_an_answer_tells_how_far_telegrams_clock_is_from_ours(hours: int) -> None:
    told = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    answer = json.dumps({"ok": True, "result": 7}).encode()
    async with server(answering(answer, f"200 OK\r\nDate: {told}")) as address, TelegramRequest() as request:
        await request.post(f"{address}/getMe")
        assert round(request.clock_offset / timedelta(hours=1), 2) == hours


@pytest.mark.parametrize("result", [{"a": 1}, [{"no": "id"}], [{"update_id": "7"}], ["x"]])
async def test_an_answer_to_a_poll_that_is_no_list_of_updates_acknowledges_nothing(result: object) -> None:
    async with (
        server(answering(json.dumps({"ok": True, "result": result}).encode())) as address,
        TelegramRequest() as request,
    ):
        with pytest.raises(Unanswered):
            await UpdatePoller(address, request, seconds=0).fetch(None)
