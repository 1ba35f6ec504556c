"""A POST whose process stands still isn't sent after its time, wherever it stood still."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import sys
from asyncio.selector_events import _SelectorSocketTransport  # type: ignore[attr-defined]
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import h11
import httpcore
import httpx
import pytest

from bot.settlement import client as client_package
from bot.settlement import transport as transport_module
from bot.settlement.client import SettlementClient
from bot.settlement.errors import NeverReached, TooLate
from tests.examples import examples
from tests.settlement.raw_server import RawServer, answers, hangs, raw_server
from tests.settlement.test_client_sockets import CREATED, KEY, ORDER_INPUT, PATIENT
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

STOPPED_SECONDS = 42.0
PACKAGES = (client_package, httpx, httpcore, h11, anyio)
FOLLOWED = tuple(str(each.__file__).removesuffix("__init__.py") for each in PACKAGES)
"""The code between a call of the client and the system."""


@dataclass
class StoppedProcess:
    """A process that stands still for 42 seconds before it executes a line of the client or of its libraries."""

    at_line: int | None = None
    lines: int = 0
    now: float = 0.0
    turns: int = 0
    checked: list[tuple[float, int]] = field(default_factory=list)
    written: list[bool] = field(default_factory=list)
    """For each part of a request: whether it was permitted in the same turn."""

    def seconds(self) -> float:
        return self.now

    def stop(self) -> None:
        self.now += STOPPED_SECONDS

    def may_send(self) -> bool:
        self.checked.append((self.now, self.turns))
        return self.now < 15

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(FOLLOWED):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.at_line:
                self.stop()
        return self._trace

    async def count_turns(self) -> None:
        """Count the turns of the event loop: between two of them, other tasks and the network can act."""
        while True:
            self.turns += 1
            await asyncio.sleep(0)

    @contextlib.contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Follow the lines and what is written, within the block."""
        write = _SelectorSocketTransport.write

        def note(transport: Any, data: Any) -> None:
            if not data.startswith(b"HTTP/"):  # the server is in this process, too
                checked_at, turn = self.checked[-1]
                self.written.append(checked_at < 15 and turn == self.turns)
            write(transport, data)

        before = sys.gettrace()
        counting = asyncio.create_task(self.count_turns())
        with monkeypatch.context() as patch:
            patch.setattr(_SelectorSocketTransport, "write", note)
            sys.settrace(self._trace)
            try:
                yield
            finally:
                sys.settrace(before)
                counting.cancel()


async def post(server: RawServer, process: StoppedProcess, monkeypatch: pytest.MonkeyPatch) -> object:
    """Create an order. Return the answer or the error."""
    async with SettlementClient(server.url, KEY, timeouts=PATIENT, clock=process.seconds) as client:
        await client.quote()  # the libraries are loaded, and the certificates
        with process.running(monkeypatch):
            try:
                return await client.place(ORDER_INPUT, process.may_send)
            except Exception as error:  # noqa: BLE001  the test looks at it
                return error


async def test_a_process_that_stands_still_at_any_line_sends_nothing_after_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quote = answers(200, {"btcIdr": 1, "fetchedAt": "2026-11-21"})
    async with raw_server(quote, answers(200, CREATED)) as server:
        undisturbed = StoppedProcess()
        assert not isinstance(await post(server, undisturbed, monkeypatch), Exception)
        assert undisturbed.written == [True, True], "the head, and then the body"
    chosen = random.Random(6).sample(range(1, undisturbed.lines + 1), min(examples(100), undisturbed.lines))
    refused = 0
    for at_line in chosen:
        process = StoppedProcess(at_line)
        async with raw_server(quote, answers(200, CREATED)) as server:
            result = await post(server, process, monkeypatch)
            posts = len(server.seen("POST"))
        assert all(process.written), f"written late: {at_line}"
        if isinstance(result, Exception):
            refused += 1
            assert isinstance(result, TooLate), f"{result!r}: {at_line}"
            assert posts == 0, at_line
            assert len(process.written) < 2, "no order comes of a head without its body"
        else:
            assert posts == 1
    assert 0 < refused < len(chosen)


async def test_a_request_that_waits_for_a_connection_is_checked_when_it_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)
    process = StoppedProcess()
    async with (
        raw_server(hangs()) as server,
        SettlementClient(server.url, KEY, timeouts=PATIENT, clock=process.seconds) as client,
    ):
        first = asyncio.create_task(client.place(ORDER_INPUT))
        await server.was_requested.wait()
        second = asyncio.create_task(client.place(ORDER_INPUT, lambda: process.now < 15))
        await until(partial(waits_for_connection, client), what="the second request")
        process.stop()
        first.cancel()
        with pytest.raises(TooLate):
            await second
        await asyncio.gather(first, return_exceptions=True)
        assert len(server.requests) == 1


async def waits_for_connection(client: SettlementClient) -> bool:
    transport: Any = client._transport
    return bool(transport._places["POST"]._waiters)


async def test_a_client_without_a_time_of_its_caller_sends_nothing_either_after_it_stood_still() -> None:
    now = iter([0.0, 0.0])  # when it was called, and when the request began
    short = replace(PATIENT, pool=10.0, connect=5.0)
    async with (
        raw_server(answers(200, CREATED)) as server,
        SettlementClient(server.url, KEY, timeouts=short, clock=lambda: next(now, STOPPED_SECONDS)) as client,
    ):
        with pytest.raises(TooLate):
            await client.place(ORDER_INPUT)
        assert server.requests == []


async def test_time_that_ends_before_anything_was_sent_leaves_nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)
    async with (
        raw_server(hangs()) as server,
        SettlementClient(server.url, KEY, timeouts=PATIENT) as client,
    ):
        first = asyncio.create_task(client.place(ORDER_INPUT))
        await server.was_requested.wait()
        client._timeouts = replace(PATIENT, total=0.1)
        with pytest.raises(NeverReached):
            await client.place(ORDER_INPUT)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert len(server.requests) == 1


async def test_a_library_that_sends_without_asking_fails_with_the_first_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "WRITES", frozenset())
    quote = answers(200, {"btcIdr": 1, "fetchedAt": "2026-11-21"})
    async with raw_server(quote) as server, SettlementClient(server.url, KEY, timeouts=PATIENT) as client:
        with pytest.raises(RuntimeError, match="without asking"):
            await client.quote()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system delivers for as long as it likes")
async def test_the_system_does_not_deliver_a_post_later_than_ten_seconds_after_it_was_sent() -> None:
    async with (
        raw_server(hangs()) as server,
        SettlementClient(server.url, KEY, timeouts=PATIENT) as client,
    ):
        request = asyncio.create_task(client.place(ORDER_INPUT))
        await server.was_requested.wait()
        transport: Any = client._transport
        (opened,) = transport._open
        (connection,) = opened._pool.connections
        used = connection._connection._network_stream.get_extra_info("socket")
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
