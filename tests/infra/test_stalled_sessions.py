"""A process that stopped keeps no locks, whatever its sessions were doing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest
from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.db.postgresql import end_stalled_sessions
from bot.infra.leases.chat_leases import ChatLeases
from tests.harness.databases import on_postgresql
from tests.waiting import found, until

pytestmark = on_postgresql

Open = Callable[[str], Awaitable[asyncpg.Connection]]
LOCK = "SELECT epoch FROM chat_leases WHERE chat_id = 7 FOR SHARE"
WANTS_LOCK = "SELECT chat_id FROM chat_leases ORDER BY chat_id FOR UPDATE"


@pytest.fixture
async def open_session(database: str) -> AsyncIterator[Open]:
    """Connect as a program of this name, without `Database`."""
    async with AsyncExitStack() as stack:

        async def connect(program: str) -> asyncpg.Connection:
            connection = await asyncpg.connect(database, server_settings={"application_name": program})
            stack.callback(connection.terminate)
            return connection

        yield connect


def create_leases(store: Database, other_store: Database) -> tuple[ChatLeases, ChatLeases]:
    """Return the leases of two processes: the former one, and another one that can take its chats over."""
    return ChatLeases(store, "former"), ChatLeases(other_store, "other")


async def let_all_leases_end(store: Database) -> None:
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE chat_leases SET expires_at = '2020-01-01 00:00:00+00'"))


async def lock_and_prepare(session: asyncpg.Connection) -> None:
    """Lock the lease of chat 7 in a transaction, and stop after the first part of the next statement."""
    await session.execute("BEGIN")
    await session.execute(LOCK)
    await session.prepare("SELECT 'this statement is new'")


async def wait_until_ended(session: asyncpg.Connection) -> None:
    """Wait until the server has ended a session. A statement at that moment fails in several ways."""

    async def is_closed() -> bool:
        return bool(session.is_closed())

    await until(is_closed, what="the end of the session")


async def end_stalled(store: Database) -> None:
    async with store.keeping() as tx:
        await end_stalled_sessions(tx, milliseconds=0)


async def test_a_chat_is_taken_over_although_its_process_stopped_in_a_statement(
    store: Database, other_store: Database, open_session: Open
) -> None:
    former, other = create_leases(store, other_store)
    await former.claim([7])
    await let_all_leases_end(store)
    session = await open_session("kirim")
    await lock_and_prepare(session)
    await other.keep()
    assert await other.claim([7]) == []  # the statement is younger than the limit
    await end_stalled(other_store)
    assert [lease.chat_id for lease in await found(partial(other.claim, [7]), bool)] == [7]
    await wait_until_ended(session)


async def test_sessions_that_work_wait_or_belong_to_other_programs_go_on(store: Database, open_session: Open) -> None:
    working, waiting, other = [await open_session(name) for name in ("kirim", "kirim", "pg_dump")]
    await lock_and_prepare(other)
    await waiting.execute("BEGIN")
    await waiting.execute(LOCK)
    work = asyncio.create_task(working.fetchval("SELECT pg_sleep(0.5)"))
    await asyncio.sleep(0.1)
    await end_stalled(store)
    await work
    assert await asyncio.gather(*(each.fetchval("SELECT 1") for each in (working, waiting, other))) == [1, 1, 1]


async def lock_and_wait_for_each_other(first: asyncpg.Connection, second: asyncpg.Connection) -> asyncio.Task[object]:
    """Lock the lease of chat 7 in one session, and wait for it in the other, which has locked that of chat 6."""
    second_pid = second.get_server_pid()
    await first.execute("BEGIN")
    await first.execute(LOCK)
    await second.execute("BEGIN")
    waiting = asyncio.create_task(second.execute(WANTS_LOCK))

    async def is_waiting() -> bool:
        return bool(await first.fetchval("SELECT cardinality(pg_blocking_pids($1)) > 0", second_pid))

    await until(is_waiting, what="the second session")
    return waiting


async def test_chats_are_taken_over_although_sessions_of_their_process_wait_for_each_other(
    store: Database, other_store: Database, open_session: Open
) -> None:
    former, other = create_leases(store, other_store)
    healthy = await open_session("kirim healthy")
    await former.claim([6, 7])
    await let_all_leases_end(store)
    sessions = [await open_session("kirim former") for _ in range(2)]
    waiting = await lock_and_wait_for_each_other(*sessions)
    taken = await found(partial(other.claim, [6, 7]), lambda leases: len(leases) == 2)
    assert [lease.chat_id for lease in taken] == [6, 7]
    # The second one can get the lock of the first in between, and end its statement before it is ended itself.
    for each in sessions:
        await wait_until_ended(each)
    (ended,) = await asyncio.gather(waiting, return_exceptions=True)
    assert ended == "SELECT 2" or isinstance(ended, asyncpg.PostgresError)
    assert await healthy.fetchval("SELECT 1") == 1


async def test_the_sessions_of_a_process_have_its_id(database: str) -> None:
    store = Database(database, owner="a1b2c3d4")
    try:
        async with store.keeping() as keeping, store.reading() as reading, store.transaction() as writing:
            names = [
                await tx.connection.scalar(text("SELECT current_setting('application_name')"))
                for tx in (keeping, reading, writing)
            ]
    finally:
        await store.close()
    assert names == ["kirim a1b2c3d4"] * 3
