"""A POST whose process stands still isn't sent after its time, wherever it stood still."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp.http_writer import StreamWriter

from bot.infra import checked_requests
from bot.settlement import client as client_package
from bot.settlement.client import NeverReached, NoAnswer, SettlementClient, TooLate
from bot.settlement.client import transport as transport_module
from bot.settlement.client.transport import Sending
from tests.examples import examples
from tests.settlement.raw_server import RawServer, answers, hangs, raw_server
from tests.settlement.test_client_sockets import CREATED, KEY, ORDER_INPUT, PATIENT
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

STOPPED_SECONDS = 42.0
FOLLOWED = tuple(str(each.__file__).removesuffix("__init__.py") for each in (client_package, checked_requests, aiohttp))
"""The code between a call of the client and the system."""


@dataclass
class StoppedProcess:
    """A process that stands still for 42 seconds before it executes a line of the client or of its libraries."""

    at_line: int | None = None
    lines: int = 0
    now: float = 0.0
    turns: int = 0
    checked: list[tuple[float, int]] = field(default_factory=list)
    written: list[tuple[float, int]] = field(default_factory=list)

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
        write, write_lines = StreamWriter._write, StreamWriter._writelines

        def noting(original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
            def note(writer: Any, data: Any) -> None:
                self.written.append((self.now, self.turns))
                original(writer, data)

            return note

        before = sys.gettrace()
        counting = asyncio.create_task(self.count_turns())
        with monkeypatch.context() as patch:
            patch.setattr(StreamWriter, "_write", noting(write))
            patch.setattr(StreamWriter, "_writelines", noting(write_lines))
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
                return await client.create_order(ORDER_INPUT, process.may_send)
            except Exception as error:  # noqa: BLE001  the test looks at it
                return error


async def test_a_process_that_stands_still_at_any_line_sends_nothing_after_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quote = answers(200, {"btcIdr": 1, "fetchedAt": "2026-11-21"})
    async with raw_server(quote, answers(200, CREATED)) as server:
        undisturbed = StoppedProcess()
        assert not isinstance(await post(server, undisturbed, monkeypatch), Exception)
        assert len(undisturbed.written) == 1, "the whole request is handed over in one piece"
    chosen = random.Random(6).sample(range(1, undisturbed.lines + 1), min(examples(200), undisturbed.lines))
    refused = 0
    for at_line in chosen:
        process = StoppedProcess(at_line)
        async with raw_server(quote, answers(200, CREATED)) as server:
            result = await post(server, process, monkeypatch)
            posts = len(server.seen("POST"))
        last_checked = process.checked[-1:] or [(0.0, 0)]
        for written_at, turn in process.written:
            assert written_at < 15 or turn == last_checked[0][1], f"written late: {at_line}"
        if isinstance(result, Exception):
            refused += 1
            assert isinstance(result, TooLate), f"{result!r}: {at_line}"
            assert not result.outcome_unknown
            assert (posts, process.written) == (0, []), at_line
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
        first = asyncio.create_task(client.create_order(ORDER_INPUT))
        await server.was_requested.wait()
        second = asyncio.create_task(client.create_order(ORDER_INPUT, lambda: process.now < 15))
        await until(partial(waits_for_connection, client), what="the second request")
        process.stop()
        first.cancel()
        with pytest.raises(TooLate) as late:
            await second
        assert not late.value.outcome_unknown
        await asyncio.gather(first, return_exceptions=True)
        assert len(server.requests) == 1


async def waits_for_connection(client: SettlementClient) -> bool:
    transport: Any = client._transport
    return any(transport._fresh.connector._waiters.values())


async def test_a_client_without_a_time_of_its_caller_sends_nothing_either_after_it_stood_still() -> None:
    now = iter([0.0, 0.0])  # when it was called, and when the request began
    short = replace(PATIENT, pool=10.0, connect=5.0)
    async with (
        raw_server(answers(200, CREATED)) as server,
        SettlementClient(server.url, KEY, timeouts=short, clock=lambda: next(now, STOPPED_SECONDS)) as client,
    ):
        with pytest.raises(TooLate):
            await client.create_order(ORDER_INPUT)
        assert server.requests == []


async def test_time_that_ends_before_anything_was_sent_leaves_nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)
    async with (
        raw_server(hangs()) as server,
        SettlementClient(server.url, KEY, timeouts=PATIENT) as client,
    ):
        first = asyncio.create_task(client.create_order(ORDER_INPUT))
        await server.was_requested.wait()
        client._timeouts = replace(PATIENT, total=0.1)
        with pytest.raises(NeverReached) as never:
            await client.create_order(ORDER_INPUT)
        assert not never.value.outcome_unknown
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert len(server.requests) == 1


def test_a_request_has_begun_only_if_it_was_permitted() -> None:
    refused = Sending(lambda: False)
    with pytest.raises(TooLate):
        refused.begin()
    assert not refused.has_begun
    assert isinstance(refused.explain(TimeoutError()), NeverReached)
    permitted = Sending(lambda: True)
    permitted.begin()
    assert permitted.has_begun
    assert isinstance(permitted.explain(TimeoutError()), NoAnswer)


async def test_a_library_that_sends_without_asking_fails_with_the_first_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "create_request_class", lambda _: aiohttp.ClientRequest)
    quote = answers(200, {"btcIdr": 1, "fetchedAt": "2026-11-21"})
    async with raw_server(quote) as server, SettlementClient(server.url, KEY, timeouts=PATIENT) as client:
        with pytest.raises(RuntimeError, match="without asking"):
            await client.quote()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system delivers for as long as it likes")
async def test_the_system_does_not_deliver_a_post_later_than_ten_seconds_after_it_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[socket.socket] = []
    create = transport_module._create_socket

    def noting(address: Any) -> socket.socket:
        made.append(create(address))
        return made[-1]

    monkeypatch.setattr(transport_module, "_create_socket", noting)
    async with (
        raw_server(hangs()) as server,
        SettlementClient(server.url, KEY, timeouts=PATIENT) as client,
    ):
        request = asyncio.create_task(client.create_order(ORDER_INPUT))
        await server.was_requested.wait()
        (used,) = made
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
