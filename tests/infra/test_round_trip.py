"""Orders and drafts are read from the database exactly as they were saved."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.checkout.draft import OrderDraft
from bot.checkout.repository import DraftRepository
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.orders.order import Order, Payer
from bot.orders.repository import OrderRepository
from tests.examples import examples
from tests.infra.keys import VAULT
from tests.orders.builders import an_order
from tests.times import NOW

T = TypeVar("T")

ZONES = st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))
BIG = st.integers(-(2**63), 2**63 - 1)
# Telegram sends no NUL, and PostgreSQL's text accepts none.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
VALUES: Final[dict[object, st.SearchStrategy[Any]]] = {
    bool: st.booleans(),
    int: st.integers(0, 2**31 - 2),
    str: TEXT,
    Decimal: st.decimals(allow_nan=False, allow_infinity=False),
    datetime: st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=ZONES),  # noqa: DTZ001  from ZONES
    Amount: st.builds(Amount, st.sampled_from(["IDR", "SAT"]), st.integers(1, 10**15)),
    Payer: st.builds(Payer, user_id=BIG.filter(bool), chat_id=BIG.filter(bool))
    | st.builds(Payer, secret_hash=TEXT.filter(bool))
    | st.just(Payer()),
}


def any_of(kind: Any, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return any value of a type: of a dataclass, with any values in all of its fields but those that are known."""
    if get_origin(kind) is tuple:
        return st.lists(any_of(get_args(kind)[0]), max_size=3).map(tuple)
    if get_args(kind):
        return st.one_of(*map(any_of, get_args(kind)))
    if kind in VALUES:
        return VALUES[kind]
    if not hasattr(kind, "__dataclass_fields__"):
        return st.from_type(kind)
    hints = get_type_hints(kind)
    return st.builds(kind, **{each.name: any_of(hints[each.name]) for each in fields(kind)} | known)


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

    big = dict.fromkeys(("expected_sats", "expected_idr", "sats", "idr"), BIG)
    for_each(database, any_of(Order, **big, evidence=st.just(())), check)  # evidence is saved when it is followed


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

    big = dict.fromkeys(("chat_id", "user_id", "message_id", "last_update_id"), BIG)
    for_each(database, any_of(OrderDraft, **big, refusal=st.none()), check)


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
