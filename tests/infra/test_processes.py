"""Processes on one PostgreSQL know of each other's keys: nobody seals what another can't read."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.db.processes import KEEP_RECORD_SECONDS, ProcessRepository
from bot.infra.db.vault import MissingKey, UnknownFirstKey, Vault
from bot.infra.leases import leader
from bot.infra.leases.chat_leases import ChatLeases
from bot.infra.leases.leader import Leadership, is_led
from bot.operations import rotate_keys as rotating
from bot.operations.check import CheckFailed, check_keys
from tests.harness.databases import on_postgresql, on_sqlite
from tests.infra.keys import KEY, OLDER_KEY
from tests.waiting import until

OLD, BOTH, NEW_FIRST, NEW = [OLDER_KEY], [OLDER_KEY, KEY], [KEY, OLDER_KEY], [KEY]
OLD_NAME = Vault(OLD).first_key_name

Process = Callable[..., "Bot"]


class Bot:
    """A process of the bot: its database, its leases and its lead."""

    def __init__(self, database: str, keys: list[bytes], owner: str) -> None:
        self.store = Database(database, Vault(keys), owner=owner)
        self.seconds = 0.0
        self.leases = ChatLeases(self.store, owner, is_alone=False, seconds=lambda: self.seconds)
        self.leadership = Leadership(self.store, owner, is_alone=False, stands_aside=lambda: self.leases.stands_aside)

    async def starts(self) -> "Bot":
        await self.store.check_before_start()
        await self.store.register_first_key()
        return self

    async def keeps(self) -> None:
        """Keep its leases and its record. They have just lasted for long enough."""
        self.seconds += KEEP_RECORD_SECONDS
        await self.leases.keep()

    async def claims(self, *chat_ids: int) -> list[int]:
        return [lease.chat_id for lease in await self.leases.claim(chat_ids)]


@pytest.fixture
async def process(database: str) -> AsyncIterator[Process]:
    made: list[Bot] = []

    def create(keys: list[bytes], owner: str = "") -> Bot:
        made.append(Bot(database, keys, owner or f"bot-{len(made)}"))
        return made[-1]

    yield create
    for each in made:
        await each.store.close()


async def is_forgotten(bot: Bot, *tables: str) -> None:
    """End the record of a process, as if it was frozen or cut off for too long. It can go on without noticing that."""
    async with bot.store._writer.begin() as connection:
        for table in ("processes", *tables):
            expire = f"UPDATE {table} SET expires_at = '2020-01-01 00:00:00+00' WHERE owner = :owner"  # noqa: S608
            await connection.execute(text(expire), {"owner": bot.leases.owner})


async def dies(bot: Bot) -> None:
    """End the record and the leases of a process that does nothing any more."""
    await is_forgotten(bot, "chat_leases", "leader_lease")


@on_postgresql
async def test_a_start_refuses_a_first_key_that_a_living_process_does_not_know(process: Process, database: str) -> None:
    await process(OLD).starts()
    for refused in (process(NEW_FIRST).store.check_before_start, process(NEW_FIRST).store.register_first_key):
        with pytest.raises(UnknownFirstKey) as caught:
            await refused()
        assert "add it at the end of ENCRYPTION_KEYS of every process first" in str(caught.value)
        assert ". " not in str(caught.value), "it is one sentence"
    with pytest.raises(CheckFailed, match="doesn't know the first key") as failed:
        await check_keys(lambda: Database(database, Vault(NEW_FIRST)))
    assert failed.value.code == 2
    checked = process(OLD)
    async with checked.store.reading() as tx:
        assert (await tx.connection.execute(text("SELECT name FROM sealing_keys"))).scalars().all() == [OLD_NAME]


@on_postgresql
async def test_a_key_is_rolled_out_in_two_rounds_beside_running_processes(process: Process) -> None:
    running = [await process(OLD).starts() for _ in range(3)]
    for round_of_keys in (BOTH, NEW_FIRST):
        for place, stopped in enumerate(running):
            await stopped.leases.release_all()
            running[place] = await process(round_of_keys).starts()
            for each in running:
                await each.keeps()
            assert [each.leases.stands_aside for each in running] == [False] * 3


@on_postgresql
async def test_a_process_that_died_or_ended_keeps_no_key_out(process: Process) -> None:
    dead = await process(OLD).starts()
    await dies(dead)
    ended = await process(OLD).starts()
    await ended.leases.release_all()
    await process(NEW_FIRST).starts()


@on_postgresql
async def test_a_process_that_keeps_its_leases_is_alive(process: Process) -> None:
    living = await process(OLD).starts()
    await dies(living)
    await living.keeps()
    with pytest.raises(UnknownFirstKey):
        await process(NEW_FIRST).starts()


@on_postgresql
async def test_of_two_processes_that_start_at_once_the_second_is_refused(process: Process) -> None:
    for _ in range(10):
        old, new = process(OLD), process(NEW_FIRST)
        await asyncio.gather(old.starts(), new.starts(), return_exceptions=True)
        async with old.store.reading() as tx:
            living = await ProcessRepository(tx, "").find_others()
        assert len(living) == 1
        for each in (old, new):
            await each.leases.release_all()
        async with old.store._writer.begin() as connection:
            await connection.execute(text("DELETE FROM sealing_keys"))


@on_postgresql
async def test_beside_a_version_that_records_nothing_a_process_starts_as_before(process: Process) -> None:
    older = process(OLD)
    async with older.store._writer.begin() as connection:
        await connection.execute(text("INSERT INTO sealing_keys VALUES (:name)"), {"name": OLD_NAME})
    for keys in (OLD, BOTH):
        started = await process(keys).starts()
        await started.keeps()
        assert not started.leases.stands_aside


@on_postgresql
async def test_a_key_that_a_living_process_seals_with_cannot_be_left_out(process: Process) -> None:
    sealing = await process(BOTH).starts()
    async with sealing.store._writer.begin() as connection:
        await connection.execute(text("DELETE FROM sealing_keys"))
    with pytest.raises(MissingKey, match="a key that is missing"):
        await process(NEW).starts()


@on_postgresql
async def test_keys_are_not_rotated_while_a_living_process_seals_with_another(process: Process, database: str) -> None:
    first, second = await process(BOTH).starts(), await process(NEW_FIRST).starts()
    said: list[str] = []
    assert await rotating.run(Database(database, Vault(NEW_FIRST)), said.append) == 1
    assert "Restart it with these" in said[0]
    await first.leases.release_all()
    assert await rotating.run(Database(database, Vault(NEW_FIRST)), said.append) == 0
    await second.leases.release_all()
    await process(NEW).starts()


@on_postgresql
async def test_a_process_that_comes_back_without_a_key_leaves_the_work_to_the_others(process: Process) -> None:
    frozen = await process(OLD).starts()
    assert await frozen.claims(1, 2) == [1, 2]
    await is_forgotten(frozen)
    other = await process(NEW_FIRST).starts()
    assert await other.claims(1) == []
    await frozen.keeps()
    assert frozen.leases.stands_aside
    assert await frozen.claims(3) == []
    await frozen.keeps()
    assert await other.claims(1, 2, 3) == [1, 2, 3]
    assert frozen.store._vault.left.find() == {f"sealing_keys {Vault(NEW).first_key_name}"}
    await other.leases.release_all()
    await frozen.keeps()
    assert not frozen.leases.stands_aside
    assert await frozen.claims(3) == [3], "if nobody else is left, it does what it can"


@on_postgresql
async def test_a_leader_that_lacks_a_key_gives_the_lead_to_a_process_that_has_it(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(leader, "KEEP_SECONDS", 0.01)
    first, second = await process(OLD).starts(), process(NEW_FIRST)
    tasks = [asyncio.create_task(first.leadership.run(asyncio.Event().wait))]  # type: ignore[arg-type]  # it waits

    async def first_leads() -> bool:
        return first.leadership.is_leading

    async def second_leads() -> bool:
        return second.leadership.is_leading

    try:
        await until(first_leads, what="the first leads")
        await is_forgotten(first)
        await second.starts()
        tasks.append(asyncio.create_task(second.leadership.run(asyncio.Event().wait)))  # type: ignore[arg-type]  # it waits
        await first.keeps()
        await until(second_leads, what="the second leads")
        assert not first.leadership.is_leading
        assert await is_led(first.store)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@on_sqlite
async def test_on_sqlite_a_new_key_comes_first_at_once(process: Process, database: str) -> None:
    await process(OLD).starts()
    await process(NEW_FIRST).starts()
    assert await rotating.run(Database(database, Vault(NEW_FIRST)), print) == 0
    await process(NEW).starts()
