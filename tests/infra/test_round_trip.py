"""Orders and drafts are read from the database exactly as they were saved."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.checkout.draft import DraftStatus, OrderDraft, RequestTerms, Step
from bot.checkout.repository import DraftRepository
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.orders.order import Order, Payer, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import Deposit, OrderStep, PayoutMethod, Quote
from tests.examples import examples
from tests.infra.keys import VAULT
from tests.orders.builders import an_order
from tests.times import NOW

T = TypeVar("T")

BIG = st.integers(-(2**63), 2**63 - 1)
ZONES = st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=ZONES)  # noqa: DTZ001  the zones come with it
# Telegram sends no NUL, and PostgreSQL's text accepts none. JSON accepts all characters.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
ANY_TEXT = st.text(max_size=40)
RATES = st.decimals(allow_nan=False, allow_infinity=False)
METHODS = st.builds(PayoutMethod, ANY_TEXT, ANY_TEXT, ANY_TEXT, st.none() | BIG)
CODES = st.builds(PayoutMethod, TEXT, ANY_TEXT, ANY_TEXT, st.none() | BIG)
AMOUNTS = st.builds(Amount, st.sampled_from(["IDR", "SAT"]), st.integers(1, 10**15))
DEPOSITS = st.builds(
    Deposit,
    channel=ANY_TEXT,
    chain_id=BIG,
    chain_name=ANY_TEXT,
    token_symbol=ANY_TEXT,
    token_address=ANY_TEXT,
    to_address=ANY_TEXT,
    decimals=st.integers(0, 18),
)
QUOTES = st.builds(Quote, RATES, TIMES, st.none() | RATES, ANY_TEXT)

IDS = BIG.filter(bool)  # 0 is nobody's
PAYERS = st.builds(Payer, user_id=IDS, chat_id=IDS) | st.builds(Payer, secret_hash=TEXT.filter(bool)) | st.just(Payer())

ORDERS = st.builds(
    Order,
    reference=TEXT,
    payer=PAYERS,
    draft_id=TEXT,
    attempt=st.integers(1, 1000),
    method=CODES,
    number=TEXT,
    holder=st.none() | TEXT,
    requested_amount=AMOUNTS,
    channel=TEXT,
    expected_sats=BIG,
    expected_idr=BIG,
    phase=st.sampled_from(Phase),
    created_at=TIMES,
    version=st.integers(0, 10**6),
    service_id=st.none() | TEXT,
    state=TEXT,
    step=st.sampled_from(OrderStep),
    sats=st.none() | BIG,
    idr=st.none() | BIG,
    btc_idr=st.none() | RATES,
    bolt11=st.none() | TEXT,
    deposit=st.none() | DEPOSITS,
    expires_at=st.none() | TIMES,
    paid_at=st.none() | TIMES,
    ended_at=st.none() | TIMES,
    expiry_notified=st.booleans(),
    refusal=st.none() | TEXT,
    last_polled_at=st.none() | TIMES,
    next_poll_at=st.none() | TIMES,
    origin=st.none() | TEXT,
)
TERMS = st.builds(
    RequestTerms,
    payer_decides=st.booleans(),
    note=st.none() | TEXT,
    note_asked=st.booleans(),
    is_reusable=st.none() | st.booleans(),
    ends_at=st.none() | TIMES,
)
DRAFTS = st.builds(
    OrderDraft,
    id=TEXT,
    chat_id=BIG,
    user_id=BIG,
    step=st.sampled_from(Step),
    status=st.sampled_from(DraftStatus),
    terms=st.none() | TERMS,
    revision=st.integers(0, 10**6),
    method=st.none() | METHODS,
    number=st.none() | TEXT,
    doubtful_number=st.none() | TEXT,
    holder=st.none() | TEXT,
    holder_asked=st.booleans(),
    amount=st.none() | AMOUNTS,
    channel=TEXT,
    quote=st.none() | QUOTES,
    message_id=st.none() | BIG,
    last_update_id=BIG,
    expires_at=TIMES,
)


class RolledBack(Exception):
    """Raised to roll an example back, so that the next one finds the tables empty."""


def for_each(
    database: str, among: st.SearchStrategy[T], check: Callable[[Database, T], Coroutine[Any, Any, None]]
) -> None:
    with asyncio.Runner() as runner:
        store = Database(database, VAULT)

        @settings(max_examples=examples(75), deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(among)
        def one(example: T) -> None:
            with pytest.raises(RolledBack):
                runner.run(check(store, example))

        one()
        runner.run(store.close())


def test_an_order_comes_back_as_it_was(database: str) -> None:
    async def check(store: Database, order: Order) -> None:
        async with store.transaction() as tx:
            assert await OrderRepository(tx).add(order)
            back = await OrderRepository(tx).get(order.reference)
            assert back == order
            assert (repr(back.btc_idr), back.created_at.tzinfo) == (repr(order.btc_idr), UTC)
            saved = await OrderRepository(tx).save(order)
            assert await OrderRepository(tx).get(order.reference) == saved
            raise RolledBack

    for_each(database, ORDERS, check)


def test_a_draft_comes_back_as_it_was(database: str) -> None:
    async def check(store: Database, draft: OrderDraft) -> None:
        async with store.transaction() as tx:
            assert await DraftRepository(tx).add(draft)
            back = await DraftRepository(tx).get(draft.id)
            assert back == draft
            assert repr(back.quote and back.quote.btc_idr) == repr(draft.quote and draft.quote.btc_idr)
            saved = await DraftRepository(tx).save(draft)
            assert await DraftRepository(tx).get(draft.id) == saved
            raise RolledBack

    for_each(database, DRAFTS, check)


@pytest.mark.parametrize("step", [timedelta(microseconds=1), timedelta(days=400)])
async def test_times_compare_as_time_whatever_their_zone(store: Database, step: timedelta) -> None:
    jakarta = timezone(timedelta(hours=7))
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("before", next_poll_at=(NOW - step).astimezone(jakarta)))
        await OrderRepository(tx).add(an_order("after", next_poll_at=NOW + step))
        await OrderRepository(tx).add(an_order("whole", next_poll_at=NOW.replace(microsecond=0)))
        found = await OrderRepository(tx).due(NOW.astimezone(timezone(-timedelta(hours=11))), is_paid=False)
    assert {order.reference for order in found} == {"before", "whole"}


async def test_a_time_without_a_zone_is_refused(store: Database) -> None:
    with pytest.raises(StoreDown) as caught:
        async with store.transaction() as tx:
            await OrderRepository(tx).add(an_order(next_poll_at=NOW.replace(tzinfo=None)))
    assert "without a zone" in str(caught.value.__cause__)
