"""Transactions over one database, SQLite or PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.infra.db import key_rotation as rotation
from bot.infra.db import keys, migrate
from bot.infra.db.address import address
from bot.infra.db.engine import reader, writer
from bot.infra.db.erasing import empty_log
from bot.infra.db.errors import SchemaMismatch, StoreFailure, failure, unreachable
from bot.infra.db.leader import Leadership, lead
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault

PING = select(1)


class Database:
    """The database of a URL: `sqlite:///path`, a plain path, `postgresql://…` or `:memory:`.

    What is written in one `transaction` is saved together or not at all.

    `vault` seals and opens what tells of recipients; without one, only tables and leadership can be looked after.
    Nothing is opened until it is used. Every method raises `StoreFailure` where the database fails.
    """

    def __init__(self, url: str, vault: Vault | None = None) -> None:
        self._address = address(url)
        self._vault = (vault or Vault()).of_a_store()
        self._writer = writer(self._address)
        self._reader = reader(self._address, self._writer)
        self._leadership: Leadership | None = None
        # SQLite has one writer at a time. Waiting here is in turn and wakes at once; its own waiting is neither.
        self._turn: AbstractAsyncContextManager[None] = asyncio.Lock() if self._address.is_sqlite else nullcontext()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Commit at the end of the block; roll back on any exception, cancellation included."""
        async with self._writing() as connection:
            yield Transaction(connection, self._vault)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        async with self._turn, _connected(self._writer) as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """For reads only: one moment of the database, and no write lock."""
        async with _connected(self._reader) as connection:
            yield Transaction(connection, self._vault)

    async def ping(self) -> None:
        """Ask the database something that reads no table.

        Raises:
            StoreFailure: it doesn't answer.
        """
        async with self.reading() as tx:
            await tx.connection.execute(PING)

    def unreadable_rows(self) -> frozenset[str]:
        """Return the rows that were left out because they can't be read, as "table key"."""
        return frozenset(self._vault.unreadable)

    async def upgrade(self) -> str:
        """Bring the tables up to date; the revision they are at then."""
        return await migrate.upgrade_at(self._address)

    async def check(self) -> str:
        """Return the revision of the tables.

        Raises:
            SchemaMismatch: it is not the program's own.
            StoreFailure: the database can't be reached.
        """
        found, expected = await migrate.current_at(self._address), migrate.head()
        if found != expected:
            raise SchemaMismatch(found, expected, is_newer=not migrate.is_known(found))
        return expected

    async def is_current(self) -> bool:
        """Whether the tables are those that this program expects."""
        return await migrate.current_at(self._address) == migrate.head()

    async def check_before_leading(self) -> None:
        """See that nothing that is known by now would end this process once it leads. Writes nothing.

        The tables may be older, or not there: whoever leads brings them up to date.

        Raises:
            SchemaMismatch: a newer program has been here.
            UnfitKeys: the database needs other keys.
        """
        found = await migrate.current_at(self._address)
        if not migrate.is_known(found):
            raise SchemaMismatch(found, migrate.head(), is_newer=True)
        if found == migrate.head():
            await self.check_keys()

    async def check_keys(self) -> None:
        """See that the keys are those that the database needs.

        Raises:
            UnfitKeys: they aren't.
        """
        async with _connected(self._reader) as connection:
            await keys.check(connection, self._vault)

    async def adopt_keys(self) -> None:
        """To be called by whoever begins to act as the bot: from now on the first key is needed, too.

        Raises:
            UnfitKeys: another one is needed that isn't there.
        """
        async with self._writing() as connection:
            await keys.adopt(connection, self._vault)

    async def keys_are_adopted(self) -> bool:
        """Whether the bot has been started with this first key, so that a running one can open what it seals."""
        async with _connected(self._reader) as connection:
            return await keys.is_adopted(connection, self._vault)

    async def sealed(self) -> Mapping[str, keys.Standing]:
        """Table -> how many of its rows are sealed, and wait for the first key.

        Raises:
            UnfitKeys: a row was sealed with a key that isn't there.
        """
        async with _connected(self._reader) as connection:
            return await keys.standing(connection, self._vault)

    def rotate(self) -> AsyncIterator[rotation.Progress]:
        """Seal all that waits anew with the first key; may be done while the bot runs, and be broken off."""
        return rotation.rotate(self._writing, self._vault)

    async def finish_rotation(self) -> int:
        """Write down that older keys are needed no more, if that is so; how many rows still wait for the first."""
        async with self._writing() as connection:
            left = sum(each.waiting for each in (await keys.standing(connection, self._vault)).values())
            if not left:
                await keys.drop_older(connection, self._vault)
        await self.erase()
        return left

    async def erase(self) -> bool:
        """Let what was just deleted be gone from the database's files, too; False where that has to wait."""
        return await empty_log(self._address)

    @asynccontextmanager
    async def lead(self, waiting: Callable[[], None] | None = None) -> AsyncIterator[Leadership]:
        """Be the one process that acts as the bot on this database; wait until no other does.

        `waiting` is called once if another process has to end first.
        """
        async with lead(self._address, waiting) as self._leadership:
            yield self._leadership

    @property
    def is_leading(self) -> bool:
        """Whether this process acts as the bot, as far as it has noticed. Its loss is noticed within seconds."""
        return self._leadership is not None and not self._leadership.lost.is_set()

    async def leads(self) -> bool:
        """Whether this process acts as the bot at this moment: asks the lock itself."""
        return self._leadership is not None and await self._leadership.holds()

    async def close(self) -> None:
        """Close every connection. Nothing may be under way."""
        await self._writer.dispose()
        await self._reader.dispose()
        self._address.forget()


@asynccontextmanager
async def _connected(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Return a connection of the pool; what goes wrong with it is told as `StoreFailure`."""
    try:
        connection = await _connect(engine)
        try:
            yield connection
        finally:
            await connection.close()
    except DBAPIError as error:
        # Its own text and its causes quote rows; where it happened is all that is kept.
        raise failure(error).with_traceback(error.__traceback__) from None
    except SQLAlchemyError as error:
        raise StoreFailure(type(error).__name__) from error


async def _connect(engine: AsyncEngine) -> AsyncConnection:
    try:
        return await engine.connect()
    except OSError as error:
        raise unreachable(error) from error
