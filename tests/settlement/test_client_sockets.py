"""Every way a connection can fail, over real sockets, and whether an order may exist afterwards."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.settlement import transport as transport_module
from bot.settlement.client import SettlementClient
from bot.settlement.errors import (
    NeverReached,
    NoAnswer,
    NotUnderstood,
    OutcomeUnknown,
    Refused,
    SettlementFailure,
)
from bot.settlement.http import RetryPolicy, Timeouts
from bot.settlement.transport import ServiceTransport
from tests.infra.certificates import write_certificate
from tests.ports import closed_port
from tests.settlement.builders import a_request
from tests.settlement.raw_server import (
    Behaviour,
    RawServer,
    answers,
    closes,
    dribbles,
    hangs,
    raw_server,
    resets,
    sends,
)
from tests.waiting import TIMEOUT_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

KEY = "pk_live_abc.secret-part"
QUOTE = {"btcIdr": 1_700_000_000, "usdcIdr": 16_000, "fetchedAt": "2026-11-21T09:00:00Z", "source": "x"}
CREATED = {"orderId": "o1", "bolt11": "lnbc1", "satAmount": 29412, "idrAmount": 500000, "btcIdr": 1.7e9}
BROKEN_CHUNK = b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"ord\r\nno length\r\n'
TOO_LONG = json.dumps(CREATED).encode() + b" " * 5_000_000
HALF = b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"orderId"'
WHOLE = b'HTTP/1.1 200 OK\r\ncontent-length: 53\r\n\r\n{"btcIdr": 1, "fetchedAt": "2026-11-21T09:00:00.00Z"}'
ORDER_INPUT = a_request()
PATIENT = Timeouts(*[TIMEOUT_SECONDS] * 4)
SHORT = replace(PATIENT, read=0.15)
"""For a server that goes silent. The timeout starts after the request was sent, so the moment doesn't matter."""

ENDLESS = replace(PATIENT, total=0.4)
"""For a server that never goes silent."""


def client_of(url: str, transport: ServiceTransport | None = None, timeouts: Timeouts = PATIENT) -> SettlementClient:
    return SettlementClient(url, KEY, timeouts=timeouts, retry=RetryPolicy(attempts=1), transport=transport)


async def failure_of_post(server: RawServer, timeouts: Timeouts = PATIENT) -> SettlementFailure:
    async with client_of(server.url, timeouts=timeouts) as client:
        with pytest.raises(SettlementFailure) as caught:
            await client.place(ORDER_INPUT)
    return caught.value


async def test_a_closed_port_means_that_no_order_was_made() -> None:
    async with client_of(f"http://127.0.0.1:{closed_port()}") as client:
        with pytest.raises(NeverReached, match="ConnectError: All connection attempts failed"):
            await client.place(ORDER_INPUT)


async def test_a_name_that_does_not_resolve_means_that_no_order_was_made() -> None:
    async with client_of("http://nothing.invalid") as client:
        with pytest.raises(NeverReached):
            await client.place(ORDER_INPUT)


QUICK_TO_CONNECT = replace(PATIENT, connect=0.1)
ONE_CONNECTION_AT_A_TIME = replace(PATIENT, pool=0.1)


async def test_a_handshake_that_never_ends_means_that_nothing_was_sent() -> None:
    async with (
        raw_server(answers(200, CREATED)) as server,
        client_of(server.url.replace("http:", "https:"), timeouts=QUICK_TO_CONNECT) as client,
    ):
        with pytest.raises(NeverReached):
            await client.place(ORDER_INPUT)
        await until(partial(is_connected, server), what="the connection")
        assert server.requests == []


async def is_connected(server: RawServer) -> bool:
    return server.connections == 1


async def test_a_server_that_speaks_no_tls_was_never_reached() -> None:
    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with client_of(f"https://127.0.0.1:{port}", timeouts=QUICK_TO_CONNECT) as client:
            with pytest.raises(NeverReached):
                await client.place(ORDER_INPUT)


async def test_waiting_in_vain_for_a_free_connection_means_that_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)
    async with raw_server(hangs()) as server, client_of(server.url, timeouts=ONE_CONNECTION_AT_A_TIME) as client:
        first = asyncio.create_task(client.place(ORDER_INPUT))
        await server.was_requested.wait()
        with pytest.raises(NeverReached):
            await client.place(ORDER_INPUT)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "timeouts"),
    [
        pytest.param(closes(), PATIENT, id="closed without a word"),
        pytest.param(resets(), PATIENT, id="reset"),
        pytest.param(hangs(), SHORT, id="silent"),
        pytest.param(sends(b"no HTTP at all\r\n\r\n", close=True), PATIENT, id="garbage"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\ncontent-le", close=True), PATIENT, id="half the headers"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nx: " + b"x" * 200_000), PATIENT, id="endless header"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nx: x"), SHORT, id="half the headers, then silent"),
        pytest.param(sends(HALF, close=True), PATIENT, id="half"),
        pytest.param(resets(HALF), PATIENT, id="half, then reset"),
        pytest.param(sends(BROKEN_CHUNK, close=True), PATIENT, id="broken chunk"),
        pytest.param(sends(HALF), SHORT, id="half, then silent"),
        pytest.param(dribbles(b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n"), ENDLESS, id="dribbled body"),
        pytest.param(dribbles(b"HTTP/1.1 200 OK\r\nx: "), ENDLESS, id="dribbled header"),
    ],
)
async def test_without_a_whole_answer_the_outcome_of_a_post_is_unknown_and_it_is_sent_once(
    behaviour: Behaviour, timeouts: Timeouts
) -> None:
    async with raw_server(behaviour) as server:
        failure = await failure_of_post(server, timeouts)
        if timeouts is not ENDLESS or server.requests:  # its time can end before anything was sent
            assert isinstance(failure, NoAnswer)
            await server.was_requested.wait()
        assert len(server.requests) <= 1


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(answers(200, "<html>Welcome</html>"), id="page"),
        pytest.param(answers(200, '{"orderId": "o1", "satAm'), id="JSON cut short"),
        pytest.param(answers(200, ""), id="empty"),
        pytest.param(answers(204), id="no content"),
        pytest.param(answers(200, "[" * 100_000), id="bottomless"),
        pytest.param(answers(200, '{"orderId": "o1", "satAmount": NaN}'), id="NaN"),
        pytest.param(answers(200, b"\xff\xfe\xfd"), id="not text"),
        pytest.param(answers(200, b"not gzip", content_encoding="gzip"), id="wrong encoding"),
        pytest.param(answers(200, gzip.compress(TOO_LONG), content_encoding="gzip"), id="bomb"),
        pytest.param(answers(200, TOO_LONG), id="too long"),
        pytest.param(answers(200, []), id="list"),
        pytest.param(answers(200, {"order": "o1"}), id="other keys"),
        pytest.param(answers(200, CREATED | {"satAmount": 29412.5}), id="half a sat"),
        pytest.param(answers(200, CREATED | {"deposit": {"channel": "btcb"}}), id="deposit without address"),
    ],
)
async def test_an_answer_that_cannot_be_understood_leaves_the_outcome_of_a_post_unknown(
    behaviour: Behaviour,
) -> None:
    async with raw_server(behaviour) as server:
        failure = await failure_of_post(server)
        assert isinstance(failure, NotUnderstood)
        assert len(server.requests) == 1


async def test_a_refusal_that_is_cut_short_is_still_a_refusal() -> None:
    cut = sends(b'HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\n{"error": "rec', close=True)
    async with raw_server(cut) as server:
        failure = await failure_of_post(server)
    assert isinstance(failure, Refused)


def sharing_kept_connections() -> ServiceTransport:
    shared: Any = ServiceTransport(PATIENT, is_encrypted=False)
    connection = shared._connection
    shared._connection = lambda _: connection("GET")
    return cast("ServiceTransport", shared)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a server's certificate."""
    folder = tmp_path_factory.mktemp("certificate")
    write_certificate(folder)
    return folder


def tls_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "server.pem", certificate / "server.key")
    return context


async def test_a_server_of_an_unknown_authority_gets_nothing(certificate: Path) -> None:
    async with (
        raw_server(answers(200, CREATED), tls=tls_of(certificate)) as server,
        client_of(server.url) as client,
    ):
        with pytest.raises(NeverReached, match="certificate"):
            await client.place(ORDER_INPUT)
        assert server.requests == []


async def test_over_tls_an_answer_is_read_and_a_lost_one_leaves_the_outcome_unknown(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = ssl.create_default_context(cafile=certificate / "root.pem")
    monkeypatch.setattr(transport_module, "get_tls_context", lambda: trusted)
    script = (answers(200, CREATED), closes(), resets(), resets(HALF))
    async with raw_server(*script, tls=tls_of(certificate)) as server, client_of(server.url) as client:
        assert (await client.place(ORDER_INPUT)).service_id == "o1"
        for _ in range(3):
            with pytest.raises(NoAnswer):
                await client.place(ORDER_INPUT)
        assert [request.connection for request in server.requests] == [1, 2, 3, 4]


async def test_a_post_never_travels_on_a_kept_connection() -> None:
    async with raw_server(answers(200, QUOTE), answers(200, CREATED)) as server, client_of(server.url) as client:
        await client.quote()
        await client.place(ORDER_INPUT)
        await client.place(ORDER_INPUT)
        assert [request.connection for request in server.requests] == [1, 2, 3]


async def test_a_second_answer_is_not_taken_for_that_of_the_next_read() -> None:
    later = QUOTE | {"btcIdr": 1_800_000_000}
    async with raw_server(sends(WHOLE * 2), answers(200, later)) as server, client_of(server.url) as client:
        await client.quote()
        assert (await client.quote()).btc_idr == later["btcIdr"]
        assert [request.connection for request in server.requests] == [1, 2]


async def test_a_post_on_a_kept_connection_that_the_server_has_just_closed_is_unknown_and_not_repeated() -> None:
    async with (
        raw_server(answers(200, QUOTE)) as server,
        client_of(server.url, sharing_kept_connections()) as client,
    ):
        await client.quote()
        server.close_connections()  # the client hasn't noticed it yet
        with pytest.raises(NoAnswer):
            await client.place(ORDER_INPUT)
        assert (server.seen("POST"), server.connections) == ([], 1)


async def test_a_redirect_is_not_followed_and_proves_nothing() -> None:
    async with raw_server(answers(303, "", location="/elsewhere")) as server:
        assert isinstance(await failure_of_post(server), OutcomeUnknown)
        assert len(server.requests) == 1


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
        monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{closed_port()}")
    async with raw_server(answers(200, CREATED)) as server, client_of(server.url) as client:
        assert (await client.place(ORDER_INPUT)).service_id == "o1"


async def test_a_server_that_never_stops_sending_cannot_hold_a_read() -> None:
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        raw_server(dribbles(b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n")) as server,
        client_of(server.url, timeouts=ENDLESS) as client,
    ):
        with pytest.raises((NoAnswer, NeverReached)):
            await client.quote()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_request_that_is_cancelled_at_any_moment_leaves_its_place_to_the_next(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)

    def send(client: SettlementClient) -> Coroutine[Any, Any, object]:
        return client.quote() if method == "GET" else client.place(ORDER_INPUT)

    async with raw_server(answers(200, CREATED | QUOTE)) as server, client_of(server.url) as client:
        is_done, turns = False, 0
        while not is_done:
            turns += 1
            request = asyncio.create_task(send(client))
            for _ in range(turns):
                await asyncio.sleep(0)
            is_done = not request.cancel()
            await asyncio.gather(request, return_exceptions=True)
            await asyncio.wait_for(send(client), TIMEOUT_SECONDS)
    assert turns > 5


async def test_closing_the_client_ends_a_request_whose_outcome_is_then_unknown() -> None:
    async with raw_server(hangs()) as server, client_of(server.url) as client:
        task = asyncio.create_task(client.place(ORDER_INPUT))
        await server.was_requested.wait()
        await client.aclose()
        with pytest.raises(NoAnswer):
            await asyncio.wait_for(task, TIMEOUT_SECONDS)


async def test_a_request_that_waits_for_a_connection_is_not_sent_after_the_client_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport_module, "MAX_CONNECTIONS", 1)
    async with raw_server(hangs()) as server, client_of(server.url) as client:
        first, second = (asyncio.create_task(client.place(ORDER_INPUT)) for _ in range(2))
        await server.was_requested.wait()
        await client.aclose()
        with pytest.raises(NoAnswer):
            await first
        with pytest.raises(NeverReached):
            await second
        assert len(server.requests) == 1
