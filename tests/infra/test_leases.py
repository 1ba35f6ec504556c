"""Leases: one process a chat and one leader. A process that lost its lease commits nothing under it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest
from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.db.fence import FENCE, LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.leases import leader
from bot.infra.leases.chat_leases import (
    KEEP_SECONDS,
    MARGIN_SECONDS,
    ChatLease,
    ChatLeases,
    Leases,
)
from bot.infra.leases.leader import Leadership
from bot.infra.leases.repository import LEAD, LEASE_SECONDS
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository
from bot.infra.telegram.outcomes import Unsent
from bot.infra.telegram.transport import TelegramRequest
from tests.harness.databases import on_postgresql
from tests.times import NOW
from tests.waiting import until

pytestmark = on_postgresql


class Seconds:
    """A monotonic clock that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Replica:
    """A process on the database: its leases, and a clock of its own."""

    def __init__(self, store: Database, owner: str) -> None:
        self.store = store
        self.seconds = Seconds()
        self.leases = ChatLeases(store, owner, seconds=self.seconds)

    async def claim(self, *chat_ids: int) -> list[int]:
        return [lease.chat_id for lease in await self.leases.claim(chat_ids)]

    async def works(self, lease: ChatLease) -> None:
        """Change something in the chat, under its lease."""
        with self.leases.work_in(lease):
            async with self.store.transaction() as tx:
                await add_job(tx, lease.chat_id, self.leases.owner)


@pytest.fixture
def first(store: Database) -> Replica:
    return Replica(store, "first")


@pytest.fixture
def second(other_store: Database) -> Replica:
    return Replica(other_store, "second")


async def let_all_leases_end(store: Database) -> None:
    """Move the ends of all leases into the past, as if their time had passed."""
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE chat_leases SET expires_at = '2020-01-01 00:00:00+00'"))


async def rows(store: Database) -> dict[int, tuple[str, int]]:
    async with store.reading() as tx:
        found = await tx.connection.execute(text("SELECT chat_id, owner, epoch FROM chat_leases"))
        return {chat_id: (owner, epoch) for chat_id, owner, epoch in found}


async def add_job(tx: Transaction, chat_id: int, kind: str) -> None:
    await InboxRepository(tx).add([InboxItem.job(chat_id, kind, "", NOW)])


async def changes(store: Database) -> list[str]:
    async with store.reading() as tx:
        return list((await tx.connection.execute(text("SELECT kind FROM inbox ORDER BY kind"))).scalars())


async def test_a_chat_has_one_owner(first: Replica, second: Replica) -> None:
    assert await first.claim(1, 2) == [1, 2]
    assert await second.claim(2, 3, 4) == [3, 4]
    assert await first.claim(1, 2, 3) == [1, 2]
    assert {chat: owner for chat, (owner, _) in (await rows(first.store)).items()} == {
        1: "first",
        2: "first",
        3: "second",
        4: "second",
    }


async def test_two_claims_of_a_chat_at_once_take_it_once(first: Replica) -> None:
    assert sorted(await asyncio.gather(first.claim(1), first.claim(1))) == [[], [1]]
    lease = first.leases.get(1)
    assert lease is not None
    await first.works(lease)


async def test_a_lease_that_ends_is_taken_over_with_a_higher_epoch(first: Replica, second: Replica) -> None:
    (lease,) = await first.leases.claim([1])
    assert lease.taken_over_at is None
    await let_all_leases_end(first.store)
    (taken,) = await second.leases.claim([1])
    assert taken.taken_over_at is not None, "its first update may have ended the other process"
    assert taken.epoch > lease.epoch
    await first.leases.keep()
    assert not lease.is_held
    assert first.leases.get(1) is None


async def test_the_work_under_a_lease_that_is_lost_ends(first: Replica, second: Replica) -> None:
    lost, kept = await first.leases.claim([1, 2])

    async def works(lease: ChatLease) -> None:
        with first.leases.work_in(lease):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(works(lease)) for lease in (lost, kept)]
    await asyncio.sleep(0)
    async with first.store._writer.begin() as connection:
        await connection.execute(text("UPDATE chat_leases SET expires_at = '2020-01-01 00:00:00+00' WHERE chat_id = 1"))
    assert await second.claim(1) == [1]
    await first.leases.keep()
    assert await asyncio.wait(tasks, timeout=0.1) == ({tasks[0]}, {tasks[1]})
    assert tasks[0].cancelled()
    tasks[1].cancel()
    await asyncio.wait(tasks)


async def test_work_that_lost_its_lease_commits_nothing(first: Replica, second: Replica) -> None:
    (lease,) = await first.leases.claim([1])
    await first.works(lease)
    await let_all_leases_end(first.store)
    (taken,) = await second.leases.claim([1])
    assert lease.is_held, "it doesn't know yet"
    with pytest.raises(LeaseLost):
        await first.works(lease)
    assert not lease.is_held
    await second.works(taken)
    assert await changes(first.store) == ["first", "second"]


async def test_a_lease_that_was_lost_and_claimed_again_is_another_one(first: Replica, second: Replica) -> None:
    (old,) = await first.leases.claim([1])
    await let_all_leases_end(first.store)
    await second.leases.claim([1])
    await let_all_leases_end(first.store)
    first.leases._held.clear()
    (new,) = await first.leases.claim([1])
    with pytest.raises(LeaseLost):
        await first.works(old)
    await first.works(new)


async def test_a_lease_ends_here_before_it_ends_there(first: Replica) -> None:
    (lease,) = await first.leases.claim([1])
    first.seconds.now += LEASE_SECONDS - MARGIN_SECONDS + 0.001
    assert not lease.is_held
    assert first.leases.get(1) is None
    with pytest.raises(LeaseLost):
        await first.works(lease)
    assert not first.leases.is_kept


async def test_a_chat_without_work_is_released_after_a_while(first: Replica, second: Replica) -> None:
    (busy, _) = await first.leases.claim([1, 2])
    with first.leases.work_in(busy):
        for _ in range(8):
            first.seconds.now += KEEP_SECONDS
            await first.leases.keep()
    assert await second.claim(1, 2) == [2]
    (free,) = [lease for lease in await second.leases.claim([2]) if lease.chat_id == 2]
    assert free.taken_over_at is None, "it was released, so nothing is wrong with its updates"
    await first.leases.release_all()
    assert await second.claim(1) == [1]


async def test_a_commit_and_a_takeover_never_both_succeed(first: Replica, second: Replica) -> None:
    for turn in range(20):
        (lease,) = await first.leases.claim([turn])
        await let_all_leases_end(first.store)
        worked, taken = await asyncio.gather(first.works(lease), second.claim(turn), return_exceptions=True)
        row = (await rows(first.store))[turn]
        if taken == [turn]:
            assert row[0] == "second"
        else:
            assert worked is None
        await let_all_leases_end(first.store)


async def test_a_process_that_ends_leaves_its_chats_and_the_lead_to_others(first: Replica, second: Replica) -> None:
    leases = await first.leases.claim([LEAD, 1, 2])
    with first.leases.work_in(leases[-1]):
        await first.leases.release_all()
    assert [lease.is_held for lease in leases] == [False, False, True]
    assert await second.claim(LEAD, 1, 2) == [LEAD, 1]


class Leader:
    """A process that wants to lead. It counts how often its work began."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases
        self.leadership = Leadership(leases)
        self.began = 0
        self.fences: list[object] = []
        self.ends = asyncio.Event()

    async def work(self) -> None:
        self.began += 1
        self.fences.append(FENCE.get())
        await self.ends.wait()

    async def leads(self) -> bool:
        return self.leadership.is_leading


@pytest.fixture
async def run_leader(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[[Leader], asyncio.Task[None]]]:
    monkeypatch.setattr(leader, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(leader, "KEEP_SECONDS", 0.01)
    monkeypatch.setattr(leader, "ENDS_WITHIN_SECONDS", 0.1)
    tasks: list[asyncio.Task[None]] = []

    def run(each: Leader) -> asyncio.Task[None]:
        tasks.append(asyncio.create_task(each.leadership.run(each.work)))
        return tasks[-1]

    yield run
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


Run = Callable[[Leader], asyncio.Task[None]]


async def test_one_leads_and_another_follows_when_it_gives_the_lead_back(
    store: Database, other_store: Database, run_leader: Run
) -> None:
    first, second = Leader(ChatLeases(store, "first")), Leader(ChatLeases(other_store, "second"))
    running = run_leader(first)
    await until(first.leads, what="the first leads")
    run_leader(second)
    await asyncio.sleep(0.1)
    assert not await second.leads()
    running.cancel()
    await asyncio.wait({running})
    await first.leases.release_all()
    await until(second.leads, what="the second leads")
    assert (first.began, second.began) == (1, 1)


async def test_a_leader_whose_lease_ends_is_followed_and_its_work_is_refused(
    store: Database, other_store: Database, run_leader: Run
) -> None:
    first, second = Leader(ChatLeases(store, "first")), Leader(ChatLeases(other_store, "second"))
    running = run_leader(first)
    await until(first.leads, what="the first leads")
    running.cancel()  # it is frozen from now on, but believes that it leads
    await asyncio.wait({running})
    (fence,) = first.fences
    assert isinstance(fence, ChatLease)

    async def writes(chat_id: int) -> None:
        FENCE.set(fence)
        async with store.transaction() as tx:
            await add_job(tx, chat_id, "first")

    await asyncio.create_task(writes(1))
    await let_all_leases_end(other_store)
    run_leader(second)
    await until(second.leads, what="the second leads")
    with pytest.raises(LeaseLost):
        await asyncio.create_task(writes(2))
    assert await changes(store) == ["first"]
    assert not first.leadership.is_leading


async def test_a_leader_that_is_cut_off_stops_before_another_can_lead(first: Replica, run_leader: Run) -> None:
    only = Leader(first.leases)
    run_leader(only)
    await until(only.leads, what="it leads")
    first.seconds.now += LEASE_SECONDS
    assert not only.leadership.is_leading

    async def leads_again() -> bool:
        return only.began == 2

    await until(leads_again, what="it leads again, with its work begun anew")


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system has no clock that goes on in sleep")
async def test_a_process_whose_machine_slept_knows_that_its_leases_are_over_before_it_sends(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, read = 0.0, time.clock_gettime

    def read_clock(clock: int) -> float:
        return read(clock) + (slept if clock == time.CLOCK_BOOTTIME else 0.0)

    monkeypatch.setattr(time, "clock_gettime", read_clock)
    leases = ChatLeases(store, "first")
    lease, lead = await leases.claim([1, LEAD])
    assert lease.is_held
    slept = 60.0
    assert not lease.is_held
    assert not lead.is_held
    assert not leases.is_kept
    with leases.work_in(lease):
        async with TelegramRequest() as telegram:
            with pytest.raises(Unsent, match="no longer acts"):
                await telegram.post("http://127.0.0.1:1/bot1:a/sendMessage")
        with pytest.raises(LeaseLost):
            async with store.transaction() as tx:
                await add_job(tx, 1, "late")
    assert await changes(store) == []
