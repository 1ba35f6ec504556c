"""Wake-ups reach the other processes on the same PostgreSQL, however many there are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from bot.infra.db.database import Database
from bot.infra.db.wakeups import MAX_NAMES, SharedWakeups
from bot.orders.tracking.viewed_orders import ViewedOrders
from tests.harness.databases import on_postgresql
from tests.settlement.fake_settlement import MovedClock
from tests.waiting import TIMEOUT_SECONDS


class Heard:
    """The names that a process has heard."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.is_changed = asyncio.Event()

    def __call__(self, name: str) -> None:
        self.names.append(name)
        self.is_changed.set()

    async def until(self, name: str) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while name not in self.names:
                self.is_changed.clear()
                await self.is_changed.wait()


@asynccontextmanager
async def listening(store: Database, owner: str) -> AsyncIterator[tuple[SharedWakeups, Heard]]:
    heard = Heard()
    wakeups = store.create_wakeups(owner, wake=heard)
    assert wakeups is not None
    task = asyncio.create_task(wakeups.run())
    try:
        await heard.until("*")
        yield wakeups, heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@on_postgresql
async def test_more_names_than_one_notification_has_arrive_the_short_ones_first(
    store: Database, other_store: Database
) -> None:
    pages = [f"viewed-page:{number:07}" for number in range(2 * MAX_NAMES)]
    async with listening(store, "first") as (first, own), listening(other_store, "second") as (_, heard):
        for name in (*pages, "outbox"):
            first.send(name)
        await heard.until(pages[-1])
    assert heard.names == ["*", "outbox", *pages]
    assert own.names == ["*"]


@on_postgresql
async def test_a_page_that_is_viewed_in_one_process_is_polled_first_by_another(
    store: Database, other_store: Database
) -> None:
    clock = MovedClock()
    here, leader = ViewedOrders(clock), ViewedOrders(clock)
    async with listening(store, "first") as (first, _), listening(other_store, "second") as (_, heard):
        here.announce = first.send
        here.record_viewed_page("R2345AB")
        here.record_active_user(1001)
        await heard.until("active-user:1001")
        await heard.until("viewed-page:R2345AB")
    for name in heard.names:
        leader.record_announcement(name)
    assert (leader.references(), leader.users()) == (("R2345AB",), (1001,))
