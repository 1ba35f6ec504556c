"""The client never logs or shows a recipient's number, a holder's name or the key's secret."""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import replace
from typing import Any

import pytest
import structlog

from bot.core.money import Amount
from bot.infra.redaction import quiet_library_logs
from bot.settlement.client import SettlementClient, key_id_of, wait_for_order
from bot.settlement.errors import SettlementFailure
from bot.settlement.http import RetryPolicy, Timeouts
from bot.settlement.model import OrderReport, OrderRequest
from bot.settlement.reading import ServiceResponse, read
from tests.settlement.builders import GOPAY, a_request
from tests.settlement.raw_server import (
    Behaviour,
    answers,
    closes,
    hangs,
    raw_server,
    sends,
)
from tests.waiting import TIMEOUT_SECONDS

SECRET = "Zq9SecretPart"
NUMBER = "081298765432"
HOLDER = "Sari Dewi Kusuma"
KEY = f"pk_live_abc.{SECRET}"
PRIVATE = (SECRET, NUMBER, NUMBER[1:], HOLDER, HOLDER.split(maxsplit=1)[0])

ORDER_INPUT = a_request(method=GOPAY, number=NUMBER, holder=HOLDER)
ECHO = f"recipientDetails {NUMBER} of {HOLDER} is wrong for key {SECRET}"
ROW = {
    "id": "o1",
    "state": "IDLE",
    "satAmount": 1,
    "idrAmount": 1,
    "payoutRecipient": NUMBER,
    "bankAccountName": HOLDER,
}

WAYS_TO_FAIL: list[Behaviour] = [
    *[answers(status, {"error": ECHO}) for status in (302, 400, 401, 404, 409, 429, 500, 502, 503)],
    answers(500, f"<pre>{ECHO}</pre>"),
    answers(200, f"<pre>{ECHO}</pre>"),
    answers(200, f'{{"orderId": "{NUMBER}", "bankAccountName": "{HOLDER}'),
    answers(200, {"orderId": [ECHO], "satAmount": NUMBER + "x", "idrAmount": HOLDER, "deposit": HOLDER}),
    answers(200, [ECHO]),
    answers(200, {"orders": [ROW | {"satAmount": HOLDER}, {HOLDER: NUMBER}], "data": [{"bankCode": HOLDER}, HOLDER]}),
    answers(200, ROW),
    closes(),
    hangs(),
    sends(f"{ECHO}\r\n\r\n".encode(), close=True),
    sends(f"HTTP/1.1 200 {ECHO}\r\nx: {ECHO}\r\ncontent-length: 500\r\n\r\n{ECHO}".encode(), close=True),
]


def client_of(url: str, read_seconds: float = 0.05) -> SettlementClient:
    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    # Only the wait for a silent server is short.
    timeouts = replace(Timeouts(*[TIMEOUT_SECONDS] * 4), read=read_seconds)
    return SettlementClient(url, KEY, timeouts=timeouts, retry=RetryPolicy(attempts=2), sleep=at_once)


async def run_everything(client: SettlementClient) -> list[SettlementFailure]:
    failures: list[SettlementFailure] = []
    calls: list[Any] = [
        client.place(ORDER_INPUT),
        client.look_up("o1"),
        client.newest(),
        client.payout_methods(),
        client.quote(),
        wait_for_order(client, "o1", timeout=0.0),
    ]
    for call in calls:
        try:
            await call
        except SettlementFailure as failure:
            failures.append(failure)
    return failures


def assert_nothing_private(text: str) -> None:
    assert not [word for word in PRIVATE if word in text], text


def shown(failure: SettlementFailure) -> str:
    return "".join([*traceback.format_exception(failure), str(failure), repr(failure), repr(failure.args)])


@pytest.mark.parametrize("behaviour", WAYS_TO_FAIL)
async def test_no_failing_flow_logs_or_shows_anything_private(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    quiet_library_logs()
    with structlog.testing.capture_logs() as events:
        async with raw_server(behaviour) as server, client_of(server.url) as client:
            failures = await run_everything(client)
            await server.was_requested.wait()
            assert server.seen("POST")[0].body.count(NUMBER.encode()) == 1
    assert failures
    assert events
    assert_nothing_private(repr(events))
    assert_nothing_private(caplog.text)
    assert_nothing_private("".join(map(shown, failures)))


async def test_what_the_service_wrote_is_kept_for_staff_where_no_log_looks() -> None:
    async with raw_server(answers(400, {"error": ECHO})) as server, client_of(server.url, TIMEOUT_SECONDS) as client:
        with pytest.raises(SettlementFailure) as caught:
            await client.place(ORDER_INPUT)
    assert caught.value.reason == ECHO
    assert str(caught.value) == "Refused: status 400"


@pytest.mark.parametrize(
    ("key", "key_id"), [(KEY, "pk_live_abc"), (f"pk_live_{SECRET}", "(no key id)"), ("a.b.c", "a")]
)
def test_a_key_without_a_dot_is_all_secret(key: str, key_id: str) -> None:
    assert key_id_of(key) == key_id


@pytest.mark.parametrize("value", [ORDER_INPUT, read(OrderReport, ServiceResponse(200, ROW))])
def test_values_show_neither_number_nor_name(value: OrderRequest | OrderReport) -> None:
    assert_nothing_private(f"{value!r} {value}")


def test_a_request_that_is_refused_by_ourselves_repeats_nothing() -> None:
    with pytest.raises(ValueError, match="can't be put") as caught:
        a_request(Amount("IDR", 0), number=NUMBER, holder=HOLDER).body()
    assert_nothing_private(shown_value_error(caught.value))


def shown_value_error(error: ValueError) -> str:
    return "".join([*traceback.format_exception(error), str(error)])
