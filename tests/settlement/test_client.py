"""The client's requests, and its parsing of the documented answers, over real HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from bot.settlement.client import KeyHeader, SettlementClient
from bot.settlement.errors import (
    KeyRefused,
    NotCreated,
    OrderNotFound,
    OutcomeUnknown,
    Refused,
    ServerError,
    SettlementFailure,
    SlowDown,
)
from bot.settlement.model import PayoutMethod
from tests.settlement.builders import a_request
from tests.settlement.raw_server import answers, raw_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

KEY = "pk_live_abc.secret-part"
ORDER = {"id": "o/1", "state": "ROUTE_SHOWN", "satAmount": "29412", "idrAmount": 500000.0}
QUOTE = {"btcIdr": 1, "fetchedAt": "2026-11-21T09:00:00Z"}
CREATED = {"orderId": "o1", "bolt11": "lnbc1", "satAmount": 29412, "idrAmount": 500000, "btcIdr": 1.7e9}
LISTED = {"orders": [ORDER], "fetchedAt": "2026-11-21T09:00:00.000Z"}
ORDER_INPUT = a_request(
    method=PayoutMethod("014", " BCA (Bank  Central Asia) ", "bank"), number="0012345678", holder="Sari Dewi"
)


CALLS: list[tuple[str, Callable[[SettlementClient], Awaitable[object]], object]] = [
    ("GET /v1/quote/btc-idr", SettlementClient.quote, QUOTE),
    ("GET /v1/payout/methods", SettlementClient.payout_methods, {"data": []}),
    ("GET /v1/deposit/rails", SettlementClient.deposit_rails, {"configured": False}),
    ("GET /v1/platform/stats", SettlementClient.platform_stats, {}),
    ("POST /v1/offramp/orders", lambda client: client.place(ORDER_INPUT), CREATED),
    ("GET /v1/offramp/orders/o%2F1", lambda client: client.look_up("o/1"), ORDER),
    ("GET /v1/offramp/orders?limit=100", SettlementClient.newest, LISTED),
]


@pytest.mark.parametrize(("target", "call", "answer"), CALLS)
@pytest.mark.parametrize("prefix", ["", "/", "/behind/a/proxy", "/behind/"])
async def test_each_of_the_seven_endpoints_is_asked_where_the_document_says(
    prefix: str, target: str, call: Callable[[SettlementClient], Awaitable[object]], answer: object
) -> None:
    async with raw_server(answers(201, answer)) as server:
        async with SettlementClient(server.url + prefix, KEY) as client:
            await call(client)
        method, path = target.split(" ")
        (request,) = server.requests
        assert (request.method, request.target) == (method, prefix.rstrip("/") + path)
        assert request.headers["x-api-key"] == KEY
        assert "authorization" not in request.headers


async def test_the_key_travels_as_a_bearer_where_that_is_chosen() -> None:
    header: KeyHeader = "authorization"
    async with raw_server(answers(200, QUOTE)) as server:
        async with SettlementClient(server.url, KEY, header=header) as client:
            await client.quote()
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert "x-api-key" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("order_id", "target"),
    [
        ("mem_1-a.b~c", "mem_1-a.b~c"),
        ("a b", "a%20b"),
        ("../../payout/methods", "..%2F..%2Fpayout%2Fmethods"),
        ("a?limit#x", "a%3Flimit%23x"),
        ("a%2Fb", "a%252Fb"),
        ("é", "%C3%A9"),
    ],
)
async def test_an_order_id_cannot_leave_its_place_in_the_path(order_id: str, target: str) -> None:
    async with raw_server(answers(200, ORDER | {"id": order_id})) as server:
        async with SettlementClient(server.url, KEY) as client:
            await client.look_up(order_id)
        assert server.requests[0].target == f"/v1/offramp/orders/{target}"


async def test_an_order_is_posted_as_json_with_names_and_numbers_exactly_as_given() -> None:
    async with raw_server(answers(200, CREATED)) as server:
        async with SettlementClient(server.url, KEY) as client:
            created = await client.place(ORDER_INPUT)
        (request,) = server.requests
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.body) == {
        "idrAmount": 50000,
        "depositChannel": "lightning",
        "partnerBankCode": "014",
        "partnerBankName": " BCA (Bank  Central Asia) ",
        "recipientDetails": "0012345678",
        "bankAccountName": "Sari Dewi",
    }
    assert (created.service_id, created.sats, created.btc_idr) == ("o1", 29412, Decimal(1700000000))


STATUSES: list[tuple[int, type[SettlementFailure], bool, bool]] = [
    (400, Refused, False, False),
    (401, KeyRefused, False, False),
    (404, OrderNotFound, False, False),
    (429, SlowDown, False, True),
    (500, ServerError, True, True),
    (503, ServerError, True, True),
    (502, ServerError, True, True),
    (504, ServerError, True, True),
    (302, OutcomeUnknown, True, False),
    (405, NotCreated, False, False),
    (408, ServerError, True, True),
    (409, OutcomeUnknown, True, False),
    (422, NotCreated, False, False),
]


@pytest.mark.parametrize(("status", "kind", "may_exist", "is_transient"), STATUSES)
async def test_each_status_has_its_class_and_says_whether_an_order_may_exist(
    status: int, kind: type[SettlementFailure], may_exist: object, is_transient: object
) -> None:
    async with (
        raw_server(answers(status, {"error": "in words"}, retry_after="7")) as server,
        SettlementClient(server.url, KEY) as client,
    ):
        with pytest.raises(SettlementFailure) as caught:
            await client.place(ORDER_INPUT)
        assert len(server.requests) == 1
    failure = caught.value
    assert type(failure) is kind
    assert isinstance(failure, OutcomeUnknown if may_exist else NotCreated)
    assert (failure.status, failure.reason, failure.retry_after) == (status, "in words", 7.0)
    assert failure.is_transient is is_transient


async def test_one_odd_row_hides_neither_the_other_methods_nor_the_other_orders() -> None:
    methods = {"data": [{"bankCode": "014", "bankName": "BCA", "kind": "bank"}, {"bankCode": 14}, None]}
    orders = {"orders": [ORDER | {"satAmount": 29412.5}, ORDER], "fetchedAt": "2026-11-21T09:00:00Z"}
    async with (
        raw_server(answers(200, methods), answers(200, orders)) as server,
        SettlementClient(server.url, KEY) as client,
    ):
        listed = await client.payout_methods()
        page = await client.newest()
    assert [method.code for method in listed] == ["014"]
    assert ([report.service_id for report in page.reports], page.skipped) == (["o/1"], 1)
    assert page.served_at == datetime(2026, 11, 21, 9, tzinfo=UTC)


async def test_the_services_clock_is_known_from_its_answers() -> None:
    ours = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
    date = "Sat, 21 Nov 2026 09:05:00 GMT"
    async with (
        raw_server(answers(200, QUOTE, date=date)) as server,
        SettlementClient(server.url, KEY, now=lambda: ours) as client,
    ):
        assert (client.clock_offset, client.service_now()) == (None, ours)
        await client.quote()
        assert client.service_now() == ours + timedelta(minutes=5)


@pytest.mark.parametrize(
    "address",
    ["", "service.example", "ftp://service.example", "https://", "https://u:p@h", "https://h?x=1", "https://h:99999"],
)
def test_an_address_that_cannot_be_one_is_refused_at_once(address: str) -> None:
    with pytest.raises(ValueError, match=r"address|[Pp]ort"):
        SettlementClient(address, KEY)


@pytest.mark.parametrize("key", ["", "pk_live_a.se cret", "pk_live_a.secret\n", "pk_live_a.sécret"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ValueError, match="visible ASCII") as caught:
        SettlementClient("https://service.example", key)
    assert "cret" not in str(caught.value)
