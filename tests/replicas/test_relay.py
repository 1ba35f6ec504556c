"""The relays pass bytes, hold them back, and list what they see."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.replicas.relay import BACKEND_KEY, HOST, Relay, Streams, TelegramRelay
from tests.waiting import until


@asynccontextmanager
async def echo_server() -> AsyncIterator[int]:
    """Run a server that sends back what it gets."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def connected(relay: Relay) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection(HOST, await relay.start())
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        await relay.close()


async def test_a_stalled_relay_holds_everything_back_and_loses_nothing() -> None:
    async with echo_server() as port:
        relay = Relay(lambda: asyncio.open_connection(HOST, port))
        async with connected(relay) as (reader, writer):
            writer.write(b"one")
            assert await reader.readexactly(3) == b"one"
            relay.stall()
            writer.write(b"two")
            answer = asyncio.ensure_future(reader.readexactly(3))
            assert await passes_nothing(relay, answer)
            relay.resume()
            assert await answer == b"two"


async def passes_nothing(relay: Relay, answer: "asyncio.Future[bytes]") -> bool:
    """Open another connection, which the relay has accepted after it got the bytes. Return whether none passed."""
    assert relay._server is not None
    _, writer = await asyncio.open_connection(HOST, relay._server.sockets[0].getsockname()[1])
    writer.write(b"more")
    await writer.drain()
    for _ in range(100):
        await asyncio.sleep(0)
    writer.transport.abort()
    return not answer.done()


async def test_a_cut_ends_the_connections_and_new_ones_work() -> None:
    async with echo_server() as port:
        relay = Relay(lambda: asyncio.open_connection(HOST, port))
        async with connected(relay) as (reader, writer):
            writer.write(b"one")
            assert await reader.readexactly(3) == b"one"
            relay.cut()
            assert await reader.read(3) == b""
            assert relay._server is not None
            again, another = await asyncio.open_connection(HOST, relay._server.sockets[0].getsockname()[1])
            another.write(b"two")
            assert await again.readexactly(3) == b"two"
            another.transport.abort()


async def test_calls_of_telegram_are_listed_with_their_chats_however_they_arrive() -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="chat_id"\r\n\r\n-42\r\n--b--\r\n'
    sent = b"".join(
        b"POST /bot1:x/%s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s" % (method, len(body), body)
        for method, body in (
            (b"sendMessage", b"text=chat_id%3D3&chat_id=7"),
            (b"getUpdates?timeout=5", b""),
            (b"sendPhoto", form),
        )
    )
    async with echo_server() as port:
        relay = TelegramRelay(port)
        async with connected(relay) as (_, writer):
            for part in (sent[:60], sent[60:150], sent[150:]):
                writer.write(part)
                await writer.drain()

            async def has_both() -> bool:
                return len(relay.calls) == 2

            await until(has_both)
    assert [(call.method, call.chat_id) for call in relay.calls] == [("sendMessage", 7), ("sendPhoto", -42)]


def test_the_id_of_a_backend_is_found_among_postgresql_s_first_answers() -> None:
    found = BACKEND_KEY.search(b"R\x00\x00\x00\x08\x00\x00\x00\x00K\x00\x00\x00\x0c\x00\x00\x04\xd2\x01\x02\x03\x04Z")
    assert found is not None
    assert int.from_bytes(found[1], "big") == 1234
