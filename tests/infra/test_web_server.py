"""The web server in a process: real connections, a port in use, and a stop that waits for no client."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.infra.http import ports, server
from bot.infra.redaction import redact
from tests.ports import free_port
from tests.waiting import TIMEOUT_SECONDS, until

FOR_EVER = int(10 * TIMEOUT_SECONDS)
SECRET = "/p/abcdefghijklmnopqrstuvwxyz_-0123"


class SlowServer:
    """A server on a free port, with an answer that can be delayed."""

    def __init__(self) -> None:
        self.held, self.asked = asyncio.Event(), asyncio.Event()
        self.app = Starlette(routes=[Route("/slow", self.slow), Route("/{rest:path}", self.quick)])
        self.address = ""

    async def slow(self, _request: Request) -> Response:
        self.asked.set()
        await self.held.wait()
        return PlainTextResponse("late")

    async def quick(self, _request: Request) -> Response:
        return PlainTextResponse("here")


@asynccontextmanager
async def open_slow_server(*, ends_within: int = server.CLOSE_SECONDS) -> AsyncIterator[SlowServer]:
    slow_server = SlowServer()
    listener = await ports.bind("127.0.0.1", free_port())
    slow_server.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with server.serve(slow_server.app, listener, close_seconds=ends_within):
        yield slow_server


async def release_answer_at_shutdown(slow_server: SlowServer) -> None:
    """Release the slow answer when new connections are no longer possible."""

    async def is_closed() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", int(slow_server.address.rpartition(":")[2]))
        except ConnectionRefusedError:
            return True
        writer.close()
        return False

    await until(is_closed, what="the end")
    slow_server.held.set()


async def test_an_answer_under_way_is_waited_for() -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS), httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as browser:
        async with open_slow_server(ends_within=FOR_EVER) as slow_server:
            slow = asyncio.create_task(browser.get(f"{slow_server.address}/slow"))
            await slow_server.asked.wait()
            late = asyncio.create_task(release_answer_at_shutdown(slow_server))
        await late
        assert (await slow).text == "late"


@pytest.mark.filterwarnings("ignore")  # closed connections log warnings
async def test_an_answer_that_never_comes_is_cut_off() -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS), httpx.AsyncClient(timeout=FOR_EVER) as browser:
        async with open_slow_server() as slow_server:
            slow = asyncio.create_task(browser.get(f"{slow_server.address}/slow"))
            await slow_server.asked.wait()
        with pytest.raises(httpx.HTTPError):
            (await slow).raise_for_status()


async def test_a_port_that_is_taken_is_named() -> None:
    async with open_slow_server() as slow_server:
        port = int(slow_server.address.rpartition(":")[2])
        with pytest.raises(ports.PortTaken, match=rf"^127\.0\.0\.1 port {port}: Address already in use$"):
            await ports.bind("127.0.0.1", port)


async def test_whoever_takes_over_waits_for_the_port_a_while() -> None:
    async with open_slow_server() as slow_server:
        port = int(slow_server.address.rpartition(":")[2])
        taking_over = asyncio.create_task(ports.bind("127.0.0.1", port, retry_seconds=FOR_EVER))
        await asyncio.sleep(0)
    (await taking_over).close()


async def test_addresses_are_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_slow_server() as slow_server, httpx.AsyncClient(base_url=slow_server.address) as browser:
        await browser.get(f"{SECRET}?l=id")
        reader, writer = await asyncio.open_connection("127.0.0.1", int(slow_server.address.rpartition(":")[2]))
        writer.write(f"GET {SECRET} HTTP/9\r\nbad header\r\n\r\n".encode())
        assert b"400" in await reader.readline()
        writer.close()
    ours = [record for record in caplog.records if record.name.startswith(("uvicorn", "bot"))]
    assert SECRET not in "".join(record.getMessage() for record in ours)


def test_an_address_that_gets_into_a_log_line_all_the_same_is_made_harmless() -> None:
    said = redact(f"GET https://pay.example/kirim{SECRET}/state?l=id 200")
    assert said == "GET https://pay.example/kirim/p/<token>/state?l=id 200"


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"])
async def test_connections_that_never_come_to_the_point_are_closed(
    monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.2)
    async with open_slow_server() as slow_server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(slow_server.address.rpartition(":")[2]))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            if before:
                writer.write(before)
                assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
            writer.write(b"GET / HTTP/1.1\r\n")
            closed = asyncio.create_task(reader.read())
            while not (await asyncio.wait({closed}, timeout=0.05))[0]:
                writer.write(b"x: y\r\n")
        # Data sent to a closed connection resets it, perhaps before the client has read its end.
        if not isinstance(closed.exception(), ConnectionResetError):
            assert b"200 OK" not in closed.result()
        writer.close()
