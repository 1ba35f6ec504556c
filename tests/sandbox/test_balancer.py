"""The balancer before the wallet pages of several replicas."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot.sandbox.replicas import Balancer
from tests.ports import closed_port
from tests.waiting import TIMEOUT_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Replicas:
    """The ports that are ready, as a test wants them."""

    def __init__(self) -> None:
        self.ports: list[int] = []
        self.asked = 0

    async def find(self) -> list[int]:
        self.asked += 1
        return self.ports


@pytest.fixture
def replicas() -> Replicas:
    return Replicas()


@pytest.fixture
def balancer(replicas: Replicas) -> Balancer:
    return Balancer(replicas.find)


@asynccontextmanager
async def echo(name: bytes) -> AsyncIterator[int]:
    """Serve one line for one line, with a name before it. Yield the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(name + line)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        yield reader, writer
    writer.transport.abort()


async def says(port: int, line: bytes) -> bytes:
    async with connected(port) as (reader, writer):
        writer.write(line)
        return await reader.readline()


async def test_each_connection_goes_to_the_first_replica_that_accepts(replicas: Replicas, balancer: Balancer) -> None:
    async with echo(b"a:") as first, echo(b"b:") as second, balancer.serve(0) as port:
        replicas.ports = [first, second]
        assert await says(port, b"1\n") == b"a:1\n"
        replicas.ports = [closed_port(), second]
        assert await says(port, b"2\n") == b"b:2\n"


async def test_a_connection_waits_until_a_replica_is_ready(replicas: Replicas, balancer: Balancer) -> None:
    async def has_asked_again() -> bool:
        return replicas.asked > 1

    async with echo(b"a:") as first, balancer.serve(0) as port:
        answer = asyncio.create_task(says(port, b"1\n"))
        await until(has_asked_again)
        replicas.ports = [first]
        assert await answer == b"a:1\n"


async def test_connections_to_a_frozen_replica_are_cut_and_no_others(replicas: Replicas, balancer: Balancer) -> None:
    async with echo(b"a:") as first, echo(b"b:") as second, balancer.serve(0) as port:
        replicas.ports = [first]
        async with connected(port) as (frozen, asking):
            asking.write(b"1\n")
            assert await frozen.readline() == b"a:1\n"
            replicas.ports = [second]
            async with connected(port) as (reader, writer):
                writer.write(b"2\n")
                assert await reader.readline() == b"b:2\n"
                balancer.cut(first)
                assert await ends(frozen)
                writer.write(b"3\n")
                assert await reader.readline() == b"b:3\n"


async def ends(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection, in whatever way it is closed."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True
