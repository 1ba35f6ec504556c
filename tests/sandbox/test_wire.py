"""A sandbox can close a connection without an answer, and stops although a client still waits for one."""

from __future__ import annotations

import asyncio
import socket
import time
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.sandbox import wire
from bot.sandbox.wire import TRANSPORT, drop_connection
from tests.sandbox.serving import serving
from tests.waiting import TIMEOUT_SECONDS, found

if TYPE_CHECKING:
    from starlette.requests import Request


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def dropped(request: Request) -> Response:
    await drop_connection(request.scope)
    return Response()


async def for_ever(request: Request) -> Response:
    while not await request.is_disconnected():
        await request.receive()
    return Response()


async def delays(request: Request) -> Response:
    connected = request.scope["extensions"][TRANSPORT].get_extra_info("socket")
    return PlainTextResponse("no" if connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) else "yes")


APP = Starlette(
    routes=[
        Route("/hello", hello),
        Route("/dropped", dropped, methods=["GET", "POST"]),
        Route("/for-ever", for_ever),
        Route("/delays", delays),
    ]
)


async def test_a_dropped_request_gets_no_answer_and_the_next_one_does() -> None:
    async with serving(APP) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
        for ask in (client.get("/dropped"), client.post("/dropped", content=b"x" * 100_000)):
            with pytest.raises(httpx.RemoteProtocolError):
                await ask
        assert (await client.get("/hello")).text == "hello"


async def test_a_waiting_request_does_not_hold_the_server_open() -> None:
    async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(TIMEOUT_SECONDS):
        async with serving(APP) as url:
            waiting = asyncio.create_task(client.get(f"{url}/for-ever", timeout=None))
            await client.get(f"{url}/hello")
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError, httpx.ConnectError)):
            await waiting


async def test_the_date_of_answers_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "TICK_SECONDS", 0.01)
    async with serving(APP) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:

        async def date() -> str:
            return (await client.get("/hello")).headers["date"]

        assert parsedate_to_datetime(await date()).timestamp() == pytest.approx(time.time(), abs=TIMEOUT_SECONDS)
        later = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: later)
        expected = formatdate(later, usegmt=True)
        assert await found(date, lambda sent: sent == expected, what="the later date") == expected


async def test_a_server_ends_without_waiting_for_its_next_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "TICK_SECONDS", 2 * TIMEOUT_SECONDS)
    async with asyncio.timeout(TIMEOUT_SECONDS), serving(APP) as url, httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{url}/hello")).text == "hello"


async def test_a_server_that_can_not_drop_says_so() -> None:
    with pytest.raises(RuntimeError, match="server_config"):
        await drop_connection({"type": "http"})


async def test_small_answers_are_not_held_back_on_a_socket_without_a_named_protocol() -> None:
    async with serving(APP) as url, httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{url}/delays")).text == "no"
