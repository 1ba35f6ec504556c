"""Statistics as the databases count them, compared with the same count in Python."""

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import median
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.operations.model import (
    OrderLine,
    OrderOutcome,
    OrderStatistics,
    RequestFigures,
    RequestStatistics,
    Tally,
)
from bot.operations.repository import StatisticsRepository
from bot.orders.order import Order, Phase, payer_on_page
from bot.payment_requests.model import ClosedBy, RequestStatus
from bot.payment_requests.repository import PaymentRequestRepository
from bot.settlement.model import OrderStep
from tests.operations.order_outcomes import find_outcome
from tests.orders.builders import an_order, insert_orders
from tests.payment_requests.builders import a_request
from tests.settlement.builders import BCA, OVO
from tests.times import NOW, SECOND

MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
EDGES = tuple(NOW + HOUR * number for number in range(7))
NEAR_EDGES = [edge + wake for edge in EDGES for wake in (-MICROSECOND, timedelta(0), MICROSECOND)]
STATES = ("", "IDLE", "LN_INVOICE_PAID", "COMPLETED", "FAILED", "IDR_QUEUED", "'; --")
LARGEST = 10**18


async def add_orders(store: Database, orders: Iterable[Order]) -> None:
    async with store.transaction() as tx:
        await insert_orders(tx, orders)


def random_orders(chance: random.Random, count: int) -> list[Order]:
    """Return orders of a few users around `EDGES`, with random states, amounts and times."""
    return [an_order(f"R{number}", **random_values(chance)) for number in range(count)]


def random_values(chance: random.Random) -> dict[str, Any]:
    paid_at = chance.choice([None, NOW + chance.random() * HOUR])
    took = chance.choice([SECOND, -SECOND, timedelta(0), chance.random() * HOUR, 400 * 24 * HOUR + MICROSECOND])
    locked = chance.choice([(None, None), (chance.randrange(LARGEST), chance.randrange(LARGEST)), (LARGEST, LARGEST)])
    return {
        "user_id": chance.randrange(6),
        "method": chance.choice([BCA, OVO]),
        "channel": chance.choice(["lightning", "cbbtc", "btcb"]),
        "phase": chance.choice(list(Phase)),
        "state": chance.choice(STATES),
        "step": chance.choice(list(OrderStep)),
        "created_at": chance.choice([*NEAR_EDGES, EDGES[0] + chance.random() * (EDGES[-1] - EDGES[0])]),
        "paid_at": paid_at,
        "ended_at": chance.choice([None, paid_at and paid_at + took]),
        "expiry_notified": chance.random() < 0.5,
        "expected_sats": chance.randrange(10**6),
        "expected_idr": chance.randrange(10**9),
        "sats": locked[0],
        "idr": locked[1],
        "btc_idr": chance.choice([None, Decimal("1666666666.6600")]),
    }


def idr_of(order: Order) -> int:
    return order.expected_idr if order.idr is None else order.idr


def sats_of(order: Order) -> int:
    return order.expected_sats if order.sats is None else order.sats


def within(orders: Sequence[Order], since: datetime, until: datetime) -> list[Order]:
    return [order for order in orders if since <= order.created_at < until]


def count_in_python(orders: Sequence[Order], edges: Sequence[datetime]) -> OrderStatistics:
    """Count the statistics of orders one by one."""
    parts = []
    for since, until in pairwise(edges):
        part: dict[OrderOutcome, Tally] = {}
        for order in within(orders, since, until):
            tally = Tally(orders=1, idr=idr_of(order), sats=sats_of(order))
            part[find_outcome(order)] = part.get(find_outcome(order), Tally()) + tally
        parts.append(part)
    lengths = [
        (order.ended_at - order.paid_at) // MICROSECOND
        for order in within(orders, edges[0], edges[-1])
        if order.state == "COMPLETED" and order.paid_at and order.ended_at and order.ended_at > order.paid_at
    ]
    middle = timedelta(microseconds=int(median(map(Decimal, lengths)))) if lengths else None
    return OrderStatistics(parts=tuple(parts), median=middle, timed=len(lengths))


@pytest.mark.parametrize("seed", range(6))
async def test_orders_are_counted_as_one_by_one(store: Database, seed: int) -> None:
    chance = random.Random(seed)
    orders = random_orders(chance, count=(0, 1, 2, 60, 200, 301)[seed])
    await add_orders(store, orders)
    async with store.reading() as tx:
        for edges in (EDGES, EDGES[:2], EDGES[2:4], (NOW - HOUR, NOW), tuple(NOW + 2 * HOUR * n for n in range(25))):
            assert await StatisticsRepository(tx).tally_orders(edges) == count_in_python(orders, edges)


async def test_payment_requests_and_what_was_paid_by_their_links_are_counted(store: Database) -> None:
    since, until = NOW - HOUR, NOW
    changes: tuple[dict[str, Any], ...] = (
        {"created_at": since},
        {"created_at": until},
        {"created_at": since, "status": RequestStatus.PAUSED},
        {"created_at": since - HOUR, "ends_at": NOW},
        {"created_at": since - HOUR, "status": RequestStatus.CLOSED},
    )
    async with store.transaction() as tx:
        for number, changed in enumerate(changes):
            request = a_request(f"{number:016}", token=f"token {number}", **changed)
            assert await PaymentRequestRepository(tx).add(request)
    paid = {"phase": Phase.DONE, "state": "COMPLETED", "paid_at": since}
    await add_orders(
        store,
        [
            an_order("R1", origin="1" * 16, **paid),
            an_order("R2", origin="1" * 16, **{**paid, "paid_at": until}),
            an_order("R3", **paid),
            an_order("R4", origin="1" * 16),
        ],
    )
    async with store.reading() as tx:
        counted = await StatisticsRepository(tx).count_requests(since, until)
    assert counted == RequestStatistics(new=2, paid=1)


async def test_open_requests_and_the_orders_of_links_are_counted_by_where_they_are_paid(store: Database) -> None:
    async with store.transaction() as tx:
        for number, status in enumerate(RequestStatus):
            by = ClosedBy.PAYMENT if status is RequestStatus.CLOSED else None
            request = a_request(f"{number:016x}", token=f"{number:016x}", status=status, closed_by=by)
            assert await PaymentRequestRepository(tx).add(request)
    link, browser = {"origin": "0" * 16, "created_at": NOW}, payer_on_page("secret")
    await add_orders(
        store,
        [
            an_order("R1", **link),
            an_order("R2", **link, payer=browser),
            an_order("R3", **link, payer=browser),
            an_order("R4", **{**link, "created_at": NOW - HOUR}),
            an_order("R5", created_at=NOW),
        ],
    )
    async with store.reading() as tx:
        counted = await StatisticsRepository(tx).get_request_figures(NOW)
    assert counted == RequestFigures(open=2, in_telegram=1, in_browsers=2)


@pytest.mark.parametrize("at_once", [1, 7, 1000])
async def test_lines_come_oldest_first_none_twice_and_none_left_out(store: Database, at_once: int) -> None:
    orders = random_orders(random.Random(at_once), 60)
    await add_orders(store, orders)
    since, until = EDGES[1], EDGES[5]
    expected = sorted(within(orders, since, until), key=lambda order: (order.created_at, order.reference))
    found: list[OrderLine] = []
    async with store.reading() as tx:
        assert await StatisticsRepository(tx).count_orders(since, until) == len(expected)
        while more := await StatisticsRepository(tx).order_lines(since, until, found[-1] if found else None, at_once):
            assert len(more) <= at_once
            found += more
    assert found == [line_of(order) for order in expected]


def line_of(order: Order) -> OrderLine:
    return OrderLine(
        reference=order.reference,
        service_id=order.service_id,
        created_at=order.created_at,
        paid_at=order.paid_at,
        ended_at=order.ended_at,
        outcome=find_outcome(order),
        state=order.state,
        method=order.method,
        channel=order.channel,
        idr=idr_of(order),
        sats=sats_of(order),
        btc_idr=order.btc_idr,
    )
