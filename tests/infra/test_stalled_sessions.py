"""A process that stops between preparing and executing a statement keeps no locks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest

from bot.infra.db.database import Database
from bot.infra.db.stalled_sessions import end_stalled_sessions
from bot.infra.leases import chat_leases
from bot.infra.leases.chat_leases import ChatLeases
from tests.harness.databases import on_postgresql, on_sqlite
from tests.waiting import found, until

Open = Callable[[str], Awaitable[asyncpg.Connection]]
LOCK = "SELECT epoch FROM chat_leases WHERE chat_id = 7 FOR SHARE"


@pytest.fixture
async def open_session(database: str) -> AsyncIterator[Open]:
    """Connect as a program of this name, without `Database`."""
    async with AsyncExitStack() as stack:

        async def connect(program: str) -> asyncpg.Connection:
            connection = await asyncpg.connect(database, server_settings={"application_name": program})
            stack.callback(connection.terminate)
            return connection

        yield connect


async def lock_and_prepare(session: asyncpg.Connection) -> None:
    """Lock the lease of chat 7 in a transaction, and stop after the first part of the next statement."""
    await session.execute("BEGIN")
    await session.execute(LOCK)
    await session.prepare("SELECT 'this statement is new'")


async def end(store: Database, milliseconds: int) -> int:
    async with store.keeping() as tx:
        return await end_stalled_sessions(tx, milliseconds=milliseconds)


@on_postgresql
async def test_a_chat_is_taken_over_although_its_process_stopped_in_a_statement(
    store: Database, other_store: Database, open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, other = ChatLeases(store, "former", is_alone=False), ChatLeases(other_store, "other", is_alone=False)
    await former.claim([7])
    await former.expire_all()
    session = await open_session("kirim")
    await lock_and_prepare(session)
    await other.keep()
    assert await other.claim([7]) == []  # the statement is younger than the limit
    monkeypatch.setattr(chat_leases, "end_stalled_sessions", partial(end_stalled_sessions, milliseconds=0))
    await other.keep()
    assert [lease.chat_id for lease in await found(partial(other.claim, [7]), bool)] == [7]

    async def is_closed() -> bool:
        return bool(session.is_closed())

    await until(is_closed, what="the end of the session")


@on_postgresql
async def test_sessions_that_work_wait_or_belong_to_other_programs_go_on(store: Database, open_session: Open) -> None:
    working, waiting, other = [await open_session(name) for name in ("kirim", "kirim", "pg_dump")]
    await lock_and_prepare(other)
    await waiting.execute("BEGIN")
    await waiting.execute(LOCK)
    work = asyncio.create_task(working.fetchval("SELECT pg_sleep(0.5)"))
    await asyncio.sleep(0.1)
    assert await end(store, 0) == 0
    await work
    assert await asyncio.gather(*(each.fetchval("SELECT 1") for each in (working, waiting, other))) == [1, 1, 1]


@on_sqlite
async def test_sqlite_has_no_sessions(store: Database) -> None:
    assert await end(store, 0) == 0
