"""Clients that leave their requests unfinished: they lose their connections, and newcomers are answered."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.infra.http import ports, server
from bot.infra.http.webhook import SECRET_HEADER, WebhookHandler
from bot.infra.telegram.inbound.webhook import Webhook
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from bot.infra.telegram.inbound.receiver import UpdateIntake

FOR_EVER = int(100 * TIMEOUT_SECONDS)
WEBHOOK = Webhook.derive("123456:test", "https://bot.example")
SECRET = f"{SECRET_HEADER}: {WEBHOOK.secret}\r\n"

SIZED = "content-length: 100000\r\n\r\n{"
CHUNKED = "transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n"
EXPECTED = "expect: 100-continue\r\ncontent-length: 100000\r\n\r\n"
BODIES = [SIZED, CHUNKED, EXPECTED]

TARGETS = [
    ("POST /unknown", ""),
    ("GET /readyz", ""),
    (f"POST {WEBHOOK.path}", f"{SECRET_HEADER}: wrong\r\n"),
    (f"PUT {WEBHOOK.path}", SECRET),
]
"""Requests whose body nobody needs: unknown paths, wrong methods, and refused deliveries."""


class NoIntake:
    """Fails the test if an update is saved."""

    async def save(self, updates: list[object]) -> None:
        raise AssertionError(updates)


def create_app() -> ASGIApp:
    handler = WebhookHandler(WEBHOOK, cast("UpdateIntake", NoIntake()))

    async def ready(_request: Request) -> Response:
        return PlainTextResponse("ready")

    return Starlette(routes=[handler.route(), Route("/readyz", ready)])


@dataclass(slots=True)
class Client:
    """One connection, written to without a library."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read_all(self) -> bytes:
        """Return everything until the server closes the connection, which it must."""
        said = bytearray()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            with suppress(ConnectionError):
                while piece := await self.reader.read(65_536):
                    said += piece
        return bytes(said)


@dataclass(slots=True)
class Served:
    """A server and the connections of its test."""

    port: int
    clients: list[Client] = field(default_factory=list)

    async def connect(self, head: str = "", headers: str = "", body: str = "") -> Client:
        """Open a connection, and write an unfinished request."""
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        if head:
            client.writer.write(f"{head} HTTP/1.1\r\nhost: x\r\n{headers}{body}".encode())
        return client

    async def is_newcomer_answered(self) -> bool:
        client = await self.connect("GET /readyz", "connection: close\r\n", "\r\n")
        return b"200 OK" in await client.read_all()


@asynccontextmanager
async def serving(app: ASGIApp | None = None) -> AsyncIterator[Served]:
    listener = await ports.bind("127.0.0.1", 0)
    served = Served(listener.getsockname()[1])
    async with server.serve(app or create_app(), listener):
        yield served
        for client in served.clients:
            client.writer.close()
            client.writer.transport.abort()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every timer be longer than the test."""
    for name in ("IDLE_SECONDS", "BODY_SECONDS", "DISCARD_SECONDS"):
        monkeypatch.setattr(server, name, FOR_EVER)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("head", "headers"), TARGETS)
async def test_a_connection_is_closed_after_the_answer_to_an_unfinished_body(
    monkeypatch: pytest.MonkeyPatch, head: str, headers: str, body: str
) -> None:
    monkeypatch.setattr(server, "DISCARD_SECONDS", 0.05)
    async with serving() as served:
        said = await (await served.connect(head, headers, body)).read_all()
    assert said.startswith(b"HTTP/1.1 ")
    assert b"connection: close" in said.partition(b"\r\n\r\n")[0]
    assert said.count(b"HTTP/1.1 ") == 1


async def _drip(client: Client, piece: bytes) -> None:
    with suppress(ConnectionError):
        while not client.writer.transport.is_closing():
            client.writer.write(piece)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("body", "piece"), [(SIZED, b"x"), (CHUNKED, b"1\r\nx\r\n"), (CHUNKED, b"0")])
@pytest.mark.parametrize(("head", "headers"), [*TARGETS, (f"POST {WEBHOOK.path}", SECRET)])
async def test_a_byte_at_a_time_keeps_no_connection(
    monkeypatch: pytest.MonkeyPatch, head: str, headers: str, body: str, piece: bytes
) -> None:
    monkeypatch.setattr(server, "DISCARD_SECONDS", 0.1)
    monkeypatch.setattr(server, "BODY_SECONDS", 0.2)
    async with serving() as served:
        client = await served.connect(head, headers, body)
        dripping = asyncio.create_task(_drip(client, piece))
        await client.read_all()
        dripping.cancel()


async def test_a_body_that_is_needed_and_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "BODY_SECONDS", 0.1)
    async with serving() as served:
        clients = [await served.connect(f"POST {WEBHOOK.path}", SECRET, body) for body in BODIES]
        said = [await client.read_all() for client in clients]
    # Who waits for leave to send its body gets that leave first.
    assert [each.count(b"HTTP/1.1 100 ") for each in said] == [0, 0, 1]
    for each in said:
        assert b"HTTP/1.1 408 " in each
        assert b"connection: close" in each


@pytest.mark.parametrize("body", [SIZED, CHUNKED])
async def test_unfinished_bodies_shut_no_newcomer_out(body: str) -> None:
    """Nothing ends by time here, and no client gives up its connection."""
    targets = itertools.cycle([*TARGETS, (f"POST {WEBHOOK.path}", SECRET), ("", "")])
    async with serving() as served:
        for number, (head, headers) in zip(range(server.MAX_CONNECTIONS + 50), targets, strict=False):
            await served.connect(head, headers, body)
            if number % 50 == 0:
                assert await served.is_newcomer_answered()
        for _ in range(5):
            assert await served.is_newcomer_answered()


@pytest.mark.parametrize("sent", [b"", b"GET /readyz HTTP/1.1\r\nhost:"])
async def test_silent_connections_and_half_heads_shut_no_newcomer_out(sent: bytes) -> None:
    async with serving() as served:
        for number in range(server.MAX_CONNECTIONS + 50):
            (await served.connect()).writer.write(sent)
            if number % 50 == 0:
                assert await served.is_newcomer_answered()
        assert await served.is_newcomer_answered()


async def test_the_longest_waiting_connection_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 3)
    async with serving() as served:
        first, second, third = [await served.connect("GET /readyz", "", "\r\n") for _ in range(3)]
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for client in (third, first, second):
                await client.reader.readuntil(b"ready")
                client.writer.write(b"GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n")
                await client.reader.readuntil(b"ready")
        assert await served.is_newcomer_answered()
        assert await third.read_all() == b""


async def test_an_answer_in_progress_never_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 2)
    started, may_end = asyncio.Semaphore(0), asyncio.Event()

    async def slow(_request: Request) -> Response:
        started.release()
        await may_end.wait()
        return PlainTextResponse("late")

    async with serving(Starlette(routes=[Route("/slow", slow)])) as served:
        clients = [await served.connect("GET /slow", "connection: close\r\n", "\r\n") for _ in range(2)]
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for _ in clients:
                await started.acquire()
        assert await (await served.connect()).read_all() == b""
        may_end.set()
        assert all([b"late" in await client.read_all() for client in clients])
