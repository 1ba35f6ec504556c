"""The repository of orders: one order for each confirmation, and every query."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import RuleBroken, StoreDown
from bot.orders.limits import DAY
from bot.orders.order import Order, Phase, payer_in_chat
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from tests.harness.databases import on_postgresql
from tests.orders.builders import an_order
from tests.times import NOW, SECOND


def named(orders: Sequence[Order]) -> list[str]:
    return [order.reference for order in orders]


async def test_an_intent_is_kept_once(store: Database) -> None:
    first = an_order("R1", draft_id="d1")
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(first)
        assert not await OrderRepository(tx).add(an_order("R2", draft_id="d1")), "the same attempt"
        assert not await OrderRepository(tx).add(an_order("R1", draft_id="d2")), "the same reference"
        assert await OrderRepository(tx).add(an_order("R3", draft_id="d1", attempt=2))
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R1") == first
        assert await OrderRepository(tx).get("R2") is None
        assert await OrderRepository(tx).of_draft("d1") == an_order("R3", draft_id="d1", attempt=2)
        assert await OrderRepository(tx).of_draft("d2") is None


async def test_two_processes_place_one_order_for_one_attempt(store: Database, other_store: Database) -> None:
    async def place(one: Database, reference: str) -> bool:
        async with one.transaction() as tx:
            return await OrderRepository(tx).add(an_order(reference, draft_id="d1"))

    placed = await asyncio.gather(*(place(one, f"R{n}") for n, one in enumerate([store, other_store] * 5)))
    assert sum(placed) == 1
    async with store.reading() as tx:
        assert await OrderRepository(tx).of_draft("d1") == an_order(f"R{placed.index(True)}", draft_id="d1")


async def test_a_second_order_with_one_payment_hash_breaks_a_rule_for_good(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", draft_id="d1", payment_hash="00"))
        await OrderRepository(tx).add(an_order("R2", draft_id="d2"))
    with pytest.raises(RuleBroken) as caught:
        async with store.transaction() as tx:
            await OrderRepository(tx).save(an_order("R2", draft_id="d2", payment_hash="00"))
    assert isinstance(caught.value, StoreDown)
    assert "00" not in str(caught.value), "the driver's text quotes the row"


async def test_of_two_savers_of_one_version_one_wins(store: Database, other_store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order())

    async def save(one: Database, state: str) -> bool:
        async with one.transaction() as tx:
            return await OrderRepository(tx).save(an_order(state=state)) is not None

    saved = await asyncio.gather(*(save(one, str(n)) for n, one in enumerate([store, other_store] * 5)))
    assert sum(saved) == 1
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R2345AB") == an_order(state=str(saved.index(True)), version=1)


async def test_an_order_of_the_service_belongs_to_one_intent(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1"))
        await OrderRepository(tx).add(an_order("R2"))
        claimed = await OrderRepository(tx).save(an_order("R1", service_id="cm1"))
        assert await OrderRepository(tx).by_service_id(["cm1", "cm2"]) == {"cm1": claimed}
        assert await OrderRepository(tx).by_service_id([]) == {}
    with pytest.raises(StoreDown):
        async with store.transaction() as tx:
            await OrderRepository(tx).save(an_order("R2", service_id="cm1"))
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R2") == an_order("R2")


async def test_due_orders_are_read_by_class_the_longest_waiting_first(store: Database) -> None:
    due: dict[str, dict[str, Any]] = {
        "late": {"next_poll_at": NOW - 2 * SECOND},
        "now": {"next_poll_at": NOW},
        "paid": {"next_poll_at": NOW - SECOND, "step": OrderStep.CONVERTING},
        "paid by its time": {"next_poll_at": NOW - 3 * SECOND, "paid_at": NOW},
        "not yet": {"next_poll_at": NOW + timedelta(microseconds=1)},
        "never": {"next_poll_at": None},
    }
    async with store.transaction() as tx:
        for reference, changes in due.items():
            await OrderRepository(tx).add(an_order(reference, phase=Phase.OPEN, **changes))
    async with store.reading() as tx:
        assert named(await OrderRepository(tx).due(NOW, is_paid=True)) == ["paid by its time", "paid"]
        assert named(await OrderRepository(tx).due(NOW, is_paid=False)) == ["late", "now"]
        assert named(await OrderRepository(tx).due(NOW, is_paid=False, limit=1)) == ["late"]
        assert await OrderRepository(tx).count_due(NOW - 2 * SECOND, is_paid=True) == 1
        assert await OrderRepository(tx).count_due(NOW, is_paid=False) == 2


async def test_what_somebody_looks_at_is_due_before_its_stretched_time(store: Database) -> None:
    later = NOW + 60 * SECOND
    known: dict[str, dict[str, Any]] = {
        "page": {"last_polled_at": NOW - 5 * SECOND, "next_poll_at": later},
        "seen just now": {"last_polled_at": NOW - SECOND, "next_poll_at": later},
        "never seen": {"next_poll_at": NOW},
        "theirs": {"last_polled_at": NOW - 9 * SECOND, "next_poll_at": later, "user_id": 7},
        "theirs, done": {"last_polled_at": NOW - 9 * SECOND, "user_id": 7},
        "other": {"last_polled_at": NOW - 9 * SECOND, "next_poll_at": NOW},
    }
    async with store.transaction() as tx:
        for reference, changes in known.items():
            await OrderRepository(tx).add(an_order(reference, phase=Phase.OPEN, **changes))
    pages, before = ["page", "seen just now", "never seen", "theirs"], NOW - 5 * SECOND
    async with store.reading() as tx:
        viewed = await OrderRepository(tx).due_if_viewed(pages, [7, 8], NOW, before, 10)
        assert sorted(named(viewed)) == ["never seen", "page", "theirs"]
        assert named(await OrderRepository(tx).due_if_viewed([], [7], NOW, before, 10)) == ["theirs"]
        assert named(await OrderRepository(tx).due_if_viewed(["page"], [], NOW, before, 10)) == ["page"]
        assert len(await OrderRepository(tx).due_if_viewed(pages, [], NOW, before, 2)) == 2


async def test_only_shown_unpaid_orders_expire_and_are_told_once(store: Database) -> None:
    past: dict[str, Any] = {"phase": Phase.OPEN, "expires_at": NOW, "next_poll_at": NOW}
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", **past))
        await OrderRepository(tx).add(an_order("told", **past, expiry_notified=True))
        await OrderRepository(tx).add(an_order("paid", **past, step=OrderStep.PAID))
        await OrderRepository(tx).add(an_order("held", **{**past, "phase": Phase.NEEDS_CONFIRMATION}))
        await OrderRepository(tx).add(an_order("later", **{**past, "expires_at": NOW + SECOND}))
        await OrderRepository(tx).add(an_order("evm", phase=Phase.OPEN, next_poll_at=NOW))
        await OrderRepository(tx).add(an_order("seen just now", **{**past, "next_poll_at": NOW + SECOND}))
        assert [order.reference for order in await OrderRepository(tx).expiring(NOW)] == ["R1"]
        await OrderRepository(tx).save(an_order("R1", **past, expiry_notified=True))
        assert await OrderRepository(tx).expiring(NOW) == ()


async def test_the_intents_an_order_could_be_mistaken_for(store: Database) -> None:
    looked_for = an_order("R1")
    others: dict[str, dict[str, Any]] = {
        "same": {},
        "abandoned": {"phase": Phase.ABANDONED, "user_id": 5},
        "refused": {"phase": Phase.REFUSED},
        "claimed": {"service_id": "cm1"},
        "elsewhere": {"method": replace(looked_for.method, code="015")},
        "before": {"created_at": NOW - SECOND},
    }
    async with store.transaction() as tx:
        await OrderRepository(tx).add(looked_for)
        for reference, changes in others.items():
            await OrderRepository(tx).add(an_order(reference, **changes))
        found = await OrderRepository(tx).similar_unclaimed(looked_for, NOW)
    assert [order.reference for order in found] == ["abandoned", "same"]


async def test_orders_that_may_count_were_created_or_paid_lately_or_are_not_over(store: Database) -> None:
    long_ago = NOW - 30 * DAY
    done: dict[str, object] = {"phase": Phase.DONE, "state": "COMPLETED", "step": OrderStep.PAID}
    orders = (
        an_order("R1", created_at=long_ago, phase=Phase.OPEN),
        an_order("R2", created_at=long_ago + SECOND, paid_at=NOW, **done),
        an_order("R3", created_at=long_ago, paid_at=NOW - DAY, **done),
        an_order("R4", created_at=long_ago, phase=Phase.ABANDONED),
        an_order("R5", created_at=NOW, phase=Phase.REFUSED),
        an_order("R6", created_at=NOW, user_id=1002),
        an_order("R7", created_at=long_ago, user_id=1003, phase=Phase.REFUSED),
        an_order("R8", created_at=long_ago + SECOND, user_id=1003, phase=Phase.REFUSED),
    )
    async with store.transaction() as tx:
        for order in orders:
            await OrderRepository(tx).add(order)
    async with store.reading() as tx:
        repository = OrderRepository(tx)
        counted = {user: await repository.counted_by_limits(payer_in_chat(user), NOW - DAY) for user in (1001, 1003)}
        with_newest = {user: await repository.counted_and_newest(user, NOW - DAY) for user in (1001, 1003, 1004)}
    assert [order.reference for order in counted[1001]] == ["R1", "R2", "R5"]
    assert counted[1003] == ()
    assert with_newest[1001] == counted[1001]
    assert [order.reference for order in with_newest[1003]] == ["R8"]
    assert with_newest[1004] == ()


@on_postgresql  # SQLite has one writer
async def test_one_user_is_served_one_at_a_time_and_others_meanwhile(store: Database, other_store: Database) -> None:
    passed: list[str] = []

    async def comes(name: str, user: int) -> None:
        async with other_store.transaction() as tx:
            await OrderRepository(tx).lock_payer(payer_in_chat(user))
            passed.append(name)

    async with store.transaction() as tx:
        await OrderRepository(tx).lock_payer(payer_in_chat(1001))
        same = asyncio.create_task(comes("the same", 1001))
        await comes("another", 1002)
        passed.append("the first is done")
    await same
    assert passed == ["another", "the first is done", "the same"]
