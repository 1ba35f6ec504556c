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
from bot.orders.order import Order, OrderEvent, Phase, payer_in_chat
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


async def test_saving_moves_on_to_the_next_version_and_a_stale_order_saves_nothing(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order())
        opened = await OrderRepository(tx).save(an_order(phase=Phase.OPEN, service_id="cm1"))
        assert opened == an_order(phase=Phase.OPEN, service_id="cm1", version=1)
        assert await OrderRepository(tx).save(an_order(phase=Phase.UNKNOWN)) is None
        assert await OrderRepository(tx).save(an_order("unknown")) is None
        assert await OrderRepository(tx).get("R2345AB") == opened


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


async def test_a_user_sees_the_newest_first(store: Database) -> None:
    async with store.transaction() as tx:
        for n in range(5):
            await OrderRepository(tx).add(an_order(f"R{n}", created_at=NOW + n * SECOND))
        await OrderRepository(tx).add(an_order("R9", user_id=1002))
    async with store.reading() as tx:
        assert [order.reference for order in await OrderRepository(tx).of_user(1001)] == [
            "R4",
            "R3",
            "R2",
            "R1",
            "R0",
        ]
        page = await OrderRepository(tx).of_user(1001, limit=2, offset=2)
        assert [order.reference for order in page] == ["R2", "R1"]


async def test_the_newer_orders_of_a_user_are_counted_as_they_are_listed(store: Database) -> None:
    # The reference decides between three orders of one moment. Another user's orders are between them.
    places = {"R0": 0, "RA": 1, "RB": 1, "RC": 1, "R5": 2}
    async with store.transaction() as tx:
        for reference, second in places.items():
            await OrderRepository(tx).add(an_order(reference, created_at=NOW + second * SECOND))
            await OrderRepository(tx).add(an_order(f"{reference}X", user_id=1002, created_at=NOW + second * SECOND))
    middle = an_order("RB", created_at=NOW + SECOND)
    async with store.reading() as tx:
        newest_first = [order.reference for order in await OrderRepository(tx).of_user(1001)]
        assert newest_first == ["R5", "RC", "RB", "RA", "R0"]
        assert (await OrderRepository(tx).count_newer(middle), await OrderRepository(tx).count_of_user(1001)) == (
            2,
            5,
        )
        assert await OrderRepository(tx).count_of_user(4711) == 0


async def test_orders_that_have_ended_are_not_open(store: Database) -> None:
    async with store.transaction() as tx:
        for n, phase in enumerate(Phase):
            await OrderRepository(tx).add(an_order(phase.value, phase=phase, created_at=NOW + n * SECOND))
    async with store.reading() as tx:
        found = [order.phase for order in await OrderRepository(tx).open_of_user(1001)]
        limited = [order.phase for order in await OrderRepository(tx).open_of_user(1001, limit=1)]
    assert found == [Phase.OPEN, Phase.NEEDS_CONFIRMATION, Phase.UNRESOLVED, Phase.UNKNOWN, Phase.INTENDED]
    assert limited == [Phase.OPEN]


async def test_orders_are_listed_by_phase_oldest_first(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", phase=Phase.UNKNOWN, created_at=NOW + SECOND))
        await OrderRepository(tx).add(an_order("R2", phase=Phase.INTENDED))
        await OrderRepository(tx).add(an_order("R3", phase=Phase.DONE))
    async with store.reading() as tx:
        found = await OrderRepository(tx).in_phase({Phase.UNKNOWN, Phase.INTENDED})
        assert [order.reference for order in found] == ["R2", "R1"]
        assert len(await OrderRepository(tx).in_phase({Phase.UNKNOWN, Phase.INTENDED}, limit=1)) == 1
        assert await OrderRepository(tx).in_phase(()) == ()


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


async def test_paying_moves_an_order_to_the_other_class(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", next_poll_at=NOW))
        await OrderRepository(tx).add(an_order("R2", next_poll_at=NOW - SECOND))
        await OrderRepository(tx).save(an_order("R1", next_poll_at=NOW, step=OrderStep.PAID))
        assert named(await OrderRepository(tx).due(NOW, is_paid=True)) == ["R1"]
        assert named(await OrderRepository(tx).due(NOW, is_paid=False)) == ["R2"]


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


async def test_orders_are_found_by_the_tokens_of_their_pages(store: Database) -> None:
    one, other = an_order("R1", page_token="t1"), an_order("R2", page_token="t2")
    async with store.transaction() as tx:
        for order in (one, other, an_order("R3", page_token=None)):
            assert await OrderRepository(tx).add(order)
        assert await OrderRepository(tx).by_page_token(["t2", "t1", "t3", ""]) == {"t1": one, "t2": other}
        assert await OrderRepository(tx).by_page_token([]) == {}


async def test_the_events_of_an_order_stay_in_order(store: Database) -> None:
    seen = [
        OrderEvent(reference="R2345AB", at=NOW, phase=Phase.INTENDED, state=""),
        OrderEvent(reference="R2345AB", at=NOW, phase=Phase.OPEN, state="ROUTE_SHOWN", note="adopted"),
        OrderEvent(reference="R2345AB", at=NOW - SECOND, phase=Phase.DONE, state="A_NEW_STATE"),
    ]
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order())
        for event in seen:
            await OrderRepository(tx).add_event(event)
    async with store.reading() as tx:
        assert await OrderRepository(tx).events("R2345AB") == tuple(seen)
        assert await OrderRepository(tx).events("other") == ()


async def test_an_event_without_its_order_is_refused(store: Database) -> None:
    with pytest.raises(StoreDown):
        async with store.transaction() as tx:
            await OrderRepository(tx).add_event(OrderEvent(reference="none", at=NOW, phase=Phase.OPEN, state=""))


async def test_a_users_orders_after_a_moment_come_oldest_first_and_without_others(store: Database) -> None:
    orders = [an_order(f"R{n}", created_at=NOW + n * SECOND) for n in (3, 1, 2, 0)]
    async with store.transaction() as tx:
        for order in (*orders, an_order("R9", created_at=NOW + SECOND, user_id=1002)):
            await OrderRepository(tx).add(order)
    async with store.reading() as tx:
        assert named(await OrderRepository(tx).placed_after(payer_in_chat(1001), NOW)) == ["R1", "R2", "R3"]
        assert await OrderRepository(tx).placed_after(payer_in_chat(1003), NOW) == ()


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


async def test_what_was_paid_long_ago_and_not_told_to_be_stuck_is_found_the_longest_first(store: Database) -> None:
    def paid(reference: str, ago: int, **changes: Any) -> Any:
        known = {"phase": Phase.OPEN, "step": OrderStep.PAID, "paid_at": NOW - ago * SECOND}
        return an_order(reference, **{**known, **changes})

    orders = (
        paid("R1", 60),
        paid("R2", 90),
        paid("R3", 59),
        paid("R4", 90, overdue_notified_at=NOW),
        paid("R5", 90, phase=Phase.DONE, state="COMPLETED"),
        an_order("R6", phase=Phase.OPEN),
    )
    async with store.transaction() as tx:
        for order in orders:
            await OrderRepository(tx).add(order)
        assert [order.reference for order in await OrderRepository(tx).overdue(NOW - 60 * SECOND)] == ["R2", "R1"]
        assert [order.reference for order in await OrderRepository(tx).overdue(NOW, limit=1)] == ["R2"]


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
