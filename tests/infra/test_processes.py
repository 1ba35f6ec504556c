"""One version and one set of keys work on a PostgreSQL database at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.db.errors import SchemaMismatch, StoreDown
from bot.infra.db.fence import LeaseLost, without_lease
from bot.infra.db.processes import OTHER_KEYS, OTHER_VERSION, RECORD_SECONDS, Replaced
from bot.infra.db.vault import MissingKey, UnknownKey, Vault
from bot.operations.database_commands import rotate_keys
from tests.harness.databases import on_postgresql, on_sqlite
from tests.infra.keys import KEY, OLDER_KEY
from tests.infra.next_version import become_the_next_version

OLD, NEW_FIRST, NEW = [OLDER_KEY], [KEY, OLDER_KEY], [KEY]
NEW_NAME = Vault(NEW).first_key_name

WRITE = text("INSERT INTO saved_replies VALUES (:name, '', now(), 1)")

Process = Callable[..., "Bot"]


class Bot:
    """A process of the bot. Its clock stands still until `is_away`."""

    def __init__(self, database: str, keys: list[bytes], owner: str) -> None:
        self.store = Database(database, Vault(keys), owner=owner)
        self.owner = owner
        self.seconds = 0.0
        self.store._record._seconds = lambda: self.seconds

    async def starts(self) -> str:
        """Start, and return why it has to wait."""
        return await self.store.join()

    async def is_away(self) -> None:
        """Be frozen or cut off until the record has ended."""
        self.seconds += RECORD_SECONDS
        async with self.store._writer.begin() as connection:
            expire = "UPDATE processes SET expires_at = '2020-01-01 00:00:00+00' WHERE owner = :owner"
            await connection.execute(text(expire), {"owner": self.owner})

    async def does(self, work: str) -> None:
        """Do some work, and try again when others have ended its sessions."""
        while True:
            try:
                await self._do(work)
            except StoreDown:
                continue
            return

    async def _do(self, work: str) -> None:
        if work == "reads":
            async with self.store.reading() as tx:
                await tx.connection.scalar(text("SELECT 1"))
        elif work == "keeps leases":
            async with self.store.keeping() as tx:
                await tx.connection.scalar(text("SELECT 1"))
        else:
            async with self.store.transaction() as tx:
                await tx.connection.execute(WRITE, {"name": work})

    async def written(self) -> set[str]:
        async with self.store._writer.connect() as connection:
            return set((await connection.execute(text("SELECT name FROM saved_replies"))).scalars())

    async def keys(self) -> set[str]:
        async with self.store._writer.connect() as connection:
            return set((await connection.execute(text("SELECT name FROM sealing_keys"))).scalars())


@pytest.fixture
async def process(database: str) -> AsyncIterator[Process]:
    made: list[Bot] = []

    def create(keys: list[bytes]) -> Bot:
        made.append(Bot(database, keys, f"bot-{len(made)}"))
        return made[-1]

    yield create
    for each in made:
        await each.store.close()


@on_postgresql
async def test_processes_of_one_version_with_the_same_keys_work_side_by_side(process: Process) -> None:
    assert [await process(OLD).starts() for _ in range(3)] == ["", "", ""]


@on_postgresql
async def test_a_process_with_other_keys_waits_until_the_others_have_ended(process: Process) -> None:
    first, second, waiting = process(OLD), process(OLD), process(NEW_FIRST)
    await first.starts()
    await second.starts()
    assert await waiting.starts() == OTHER_KEYS
    await first.store.leave()
    assert await waiting.starts() == OTHER_KEYS
    assert await waiting.keys() == set(Vault(OLD).key_names), "it has changed nothing"
    await second.is_away()
    assert await waiting.starts() == ""
    assert NEW_NAME in await waiting.keys()


@on_postgresql
async def test_a_process_of_another_version_waits_and_one_that_is_older_than_the_tables_ends(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = process(OLD)
    await older.starts()
    with monkeypatch.context() as newer:
        become_the_next_version(tmp_path, newer)
        assert await process(OLD).starts() == OTHER_VERSION
    async with older.store._writer.begin() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    try:
        with pytest.raises(SchemaMismatch):
            await process(OLD).starts()
        await older.is_away()
        with pytest.raises(Replaced):
            await older.does("reads")
    finally:
        async with older.store._writer.begin() as connection:
            back = text("UPDATE alembic_version SET version_num = :head")
            await connection.execute(back, {"head": migrate.get_expected_revision()})


@on_postgresql
async def test_of_two_that_start_at_once_with_other_keys_one_waits(process: Process) -> None:
    for _ in range(10):
        both = process(OLD), process(NEW_FIRST)
        reasons = await asyncio.gather(*(each.starts() for each in both), return_exceptions=True)
        assert sum(reason == "" for reason in reasons) == 1, reasons
        for each in both:
            await each.store.leave()
        async with both[0].store._writer.begin() as connection:
            await connection.execute(text("DELETE FROM sealing_keys"))


async def test_a_start_without_a_key_that_the_database_needs_is_refused_with_its_name(process: Process) -> None:
    await process(NEW_FIRST).starts()
    with pytest.raises(MissingKey, match=f"{NEW_NAME}.*Add that key at the end of ENCRYPTION_KEYS"):
        await process(OLD).starts() or pytest.fail("it started")


@on_postgresql
async def test_after_a_pause_a_process_records_itself_again_before_it_goes_on(process: Process) -> None:
    paused, same = process(OLD), process(OLD)
    await paused.starts()
    await paused.is_away()
    await same.starts()
    await paused.does("reads")
    await same.store.leave()
    assert await process(NEW_FIRST).starts() == OTHER_KEYS, "it is recorded again"


@on_postgresql
@pytest.mark.parametrize("work", ["reads", "a key", "keeps leases"])
async def test_a_process_that_was_replaced_reads_and_writes_nothing_more(process: Process, work: str) -> None:
    paused = process(OLD)
    await paused.starts()
    await paused.is_away()
    other = process(NEW_FIRST)
    await other.starts()
    with pytest.raises(Replaced) as caught:
        await paused.does(work)
    assert isinstance(caught.value, LeaseLost), "so its work is left as it is"
    await other.store.leave()
    with pytest.raises(Replaced):
        await paused.does("reads")
    assert await other.written() == set()


@on_postgresql
@pytest.mark.parametrize("is_known", [True, False])
async def test_a_replaced_process_still_saves_an_answer_if_the_others_can_read_it(
    process: Process, *, is_known: bool
) -> None:
    paused, other = process(OLD), process(NEW_FIRST)
    await paused.starts()
    await paused.is_away()
    await other.starts()
    if not is_known:
        await other.store.finish_rotation()
    task = asyncio.create_task(paused.does("answer"), context=without_lease(saves_answer=True))
    (result,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(result, Replaced) is not is_known
    assert ("answer" in await other.written()) is is_known
    with pytest.raises(Replaced):
        await paused.does("reads")


@on_postgresql
async def test_the_process_ends_when_it_was_replaced(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.infra.db.processes.KEEP_RECORD_SECONDS", 0.05)
    paused = process(OLD)
    await paused.starts()
    await paused.is_away()
    await process(NEW_FIRST).starts()
    with pytest.raises(Replaced):
        await paused.store.hold()


async def test_a_row_of_an_unknown_key_ends_the_process_and_the_key_is_needed_from_then_on(process: Process) -> None:
    running = process(OLD)
    await running.starts()
    with pytest.raises(UnknownKey):
        async with running.store.reading() as tx:
            tx.vault.open(Vault(NEW).seal("text", "place"), "place")
    with pytest.raises(UnknownKey, match=NEW_NAME):
        await running.store.hold()
    assert NEW_NAME in await running.keys()
    with pytest.raises(MissingKey, match=f"{NEW_NAME}.*Add that key at the end of ENCRYPTION_KEYS"):
        await process(OLD).starts()


@on_postgresql
async def test_keys_are_not_rotated_while_a_living_process_seals_with_another(process: Process, database: str) -> None:
    running, said = process(OLD), list[str]()
    await running.starts()
    assert await rotate_keys(Database(database, Vault(NEW_FIRST)), said.append) == 1
    assert "Restart it with these" in said[0]
    await running.store.leave()
    await process(NEW_FIRST).starts()
    assert await rotate_keys(Database(database, Vault(NEW_FIRST)), said.append) == 0


@on_sqlite
async def test_on_sqlite_a_new_key_comes_first_at_once(process: Process, database: str) -> None:
    await process(OLD).starts()
    await process(NEW_FIRST).starts()
    assert await rotate_keys(Database(database, Vault(NEW_FIRST)), print) == 0
    await process(NEW).starts()
