"""Reconciliations and shown times are read as they were written, on both databases."""

import asyncio
from datetime import timedelta

from bot.infra.db.database import Database
from bot.operations.reconciliation.model import DifferenceKind, ListedSpan, Pending, Run
from bot.operations.reconciliation.repository import ReconciliationRepository
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from tests.harness.databases import on_postgresql
from tests.operations.samples import a_difference
from tests.orders.builders import an_order
from tests.times import NOW, SECOND

RUN = Run(
    asked_at=NOW,
    listed=100,
    ours=3,
    others=97,
    uncertain=1,
    unlisted=2,
    unchecked=3,
    shown=ListedSpan(NOW - SECOND, NOW),
    next_at=NOW + SECOND,
    differences=tuple(a_difference(kind, "\u0000 ü 'x") for kind in DifferenceKind),
    pending=(Pending("R2345AB", "LN_INVOICE_PAID", NOW),),
)


async def test_a_run_is_read_as_it_was_written(store: Database) -> None:
    async with store.transaction() as tx:
        await ReconciliationRepository(tx).add(Run(asked_at=NOW - SECOND, listed=0, next_at=NOW))
        await ReconciliationRepository(tx).add(RUN)
    async with store.reading() as tx:
        assert await ReconciliationRepository(tx).newest() == RUN
    async with store.transaction() as tx:
        await ReconciliationRepository(tx).delete_runs(before=NOW, after=NOW - SECOND)
        assert await ReconciliationRepository(tx).newest() is None


async def test_shown_times_are_replaced_by_their_sum_and_old_ones_deleted(store: Database) -> None:
    first, second, third = [ListedSpan(NOW + number * SECOND, NOW + (number + 0.5) * SECOND) for number in (0, 1, 2)]
    async with store.transaction() as tx:
        await ReconciliationRepository(tx).replace_spans((), (first, second, third), NOW)
        assert await ReconciliationRepository(tx).find_spans() == (first, second, third)
        both = ListedSpan(second.since, third.until)
        await ReconciliationRepository(tx).replace_spans((first, second, third), (first, both), NOW)
        assert await ReconciliationRepository(tx).find_spans() == (first, both)
        await ReconciliationRepository(tx).replace_spans((first, both), (first, both), NOW + SECOND)
        assert await ReconciliationRepository(tx).find_spans() == (both,)


async def test_our_orders_of_a_time_are_found_and_counted(store: Database) -> None:
    span = ListedSpan(NOW, NOW + 3 * SECOND)
    async with store.transaction() as tx:
        for number in range(5):
            at = NOW + timedelta(seconds=number)
            order = an_order(f"R{number}", created_at=at, service_id=f"s{number}", phase=Phase.OPEN)
            assert await OrderRepository(tx).add(order)
        assert await OrderRepository(tx).add(an_order("LOST", created_at=NOW, phase=Phase.UNKNOWN))
        assert await OrderRepository(tx).add(an_order("REFUSED", created_at=NOW, phase=Phase.REFUSED))
        deposit = {"channel": "cbbtc", "service_id": "d1", "sats": 5, "created_at": NOW - SECOND}
        assert await OrderRepository(tx).add(an_order("DEPOSIT", phase=Phase.OPEN, **deposit))
    async with store.reading() as tx:
        repository = ReconciliationRepository(tx)
        assert [order.reference for order in await repository.absent(span, ["s1"], 5)] == ["R0", "R2"]
        assert [order.reference for order in await repository.absent(span, [], 1)] == ["R0"]
        assert (await repository.count_created(span), await repository.count_uncertain(span)) == (3, 1)
        assert [order.reference for order in await repository.deposits(5)] == ["DEPOSIT"]
        assert set(await repository.by_reference(["R1", "LOST", "none"])) == {"R1", "LOST"}


@on_postgresql
async def test_two_processes_save_one_after_the_other(store: Database, other_store: Database) -> None:
    order = list[str]()

    async def save(database: Database, name: str) -> None:
        async with database.transaction() as tx:
            await ReconciliationRepository(tx).lock()
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(save(store, "a"), save(other_store, "b"))
    assert order in (["a begins", "a ends", "b begins", "b ends"], ["b begins", "b ends", "a begins", "a ends"])
