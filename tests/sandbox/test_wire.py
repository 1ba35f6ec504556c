"""A sandbox can close a connection without an answer, and stops although a client still waits for one."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.sandbox.wire import TRANSPORT, drop_connection
from tests.sandbox.serving import serving
from tests.waiting import TIMEOUT_SECONDS

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
