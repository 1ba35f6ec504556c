"""Transactions over one database, SQLite or PostgreSQL."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import QueuePool

from bot.infra.db import file_lock, keys, migrate, sqlite
from bot.infra.db.address import parse_database_url
from bot.infra.db.connection import Connection
from bot.infra.db.engine import create_keeper, create_reader, create_writer
from bot.infra.db.erasure import empty_write_ahead_log
from bot.infra.db.errors import (
    SchemaMismatch,
    StoreDown,
    UnusableUrl,
    is_about_parameters,
    translate_connection_error,
    translate_error,
)
from bot.infra.db.fence import FENCE
from bot.infra.db.processes import TOUCH, ProcessRepository
from bot.infra.db.server_check import FORBIDDEN, check_server, check_sessions
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault

if TYPE_CHECKING:
    from bot.infra.db.wakeups import SharedWakeups

TRANSACTION_SECONDS: Final = Histogram(
    "kirim_database_transaction_seconds",
    "How long a transaction took, with the wait for its connection.",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)
READ_SECONDS, WRITE_SECONDS = (TRANSACTION_SECONDS.labels(kind) for kind in ("read", "write"))
ERRORS: Final = Counter("kirim_database_errors", "Transactions that the database failed, or whose rows can't be read.")
CONNECTIONS_IN_USE: Final = Gauge("kirim_database_connections_in_use", "Connections to PostgreSQL that are used now.")
CONNECTIONS_LIMIT: Final = Gauge(
    "kirim_database_connections_limit", "Connections to PostgreSQL that can be used at once."
)


class Database:
    """The database of a URL: `sqlite:///path`, a plain path, `postgresql://…` or `:memory:`.

    All writes of one `transaction` are saved together or not at all. No connection is opened before it is needed.
    Every method raises `StoreDown` if the database fails.

    Args:
        url: the database.
        vault: encrypts and decrypts personal columns. Without it, only migrations and leases work.
        owner: the random id of this process. Other processes know its sessions on PostgreSQL by it.
    """

    def __init__(self, url: str, vault: Vault | None = None, *, owner: str = "") -> None:
        self._address = parse_database_url(url)
        self._vault = (vault or Vault()).copy_for_database()
        self._owner = owner
        self._writer = create_writer(self._address, owner)
        self._reader = create_reader(self._address, self._writer)
        self._lock: file_lock.FileLock | None = None
        self._keeper = create_keeper(self._address, self._writer, owner)
        path = self._address.path
        self._sqlite_writer = None if path is None else sqlite.Writer(self._writer)
        self._sqlite_readers = None if path is None else sqlite.Readers(path)
        if path is None and isinstance(pool := self._writer.pool, QueuePool):
            CONNECTIONS_IN_USE.set_function(pool.checkedout)
            CONNECTIONS_LIMIT.set_function(pool.size)
        self.before_commit: Callable[[Transaction, Collection[int]], Awaitable[None]] | None = None
        """Called at the end of each transaction that queues notifications, with their chats, to begin to send them."""

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Open a transaction. Commit it at the end of the block, or roll back after an exception or a cancellation.

        Raises:
            LeaseLost: this process no longer holds the lease of the current work. Nothing was saved.
        """
        on_rollback: list[Callable[[], None]] = []
        try:
            with WRITE_SECONDS.time(), ERRORS.count_exceptions(StoreDown):
                async with self._writing() as connection:
                    tx = Transaction(connection, self._vault, on_rollback=on_rollback)
                    yield tx
                    if tx.chats and self.before_commit is not None:
                        await self.before_commit(tx, tx.chats)
                    fence = FENCE.get()
                    if fence is not None:
                        await fence.check(tx)
        except BaseException:
            for call in on_rollback:
                call()
            raise
        for call in tx.on_commit:
            call()

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Connection]:
        if self._sqlite_writer is None:
            async with _connected(self._writer) as connection, connection.begin():
                yield connection
        else:
            with _translated_errors():
                async with self._sqlite_writer.transaction() as connection_of_sqlite:
                    yield connection_of_sqlite

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Connection]:
        if self._sqlite_readers is None:
            async with _connected(self._reader) as connection:
                yield connection
        else:
            with _translated_errors():
                async with self._sqlite_readers.transaction() as connection_of_sqlite:
                    yield connection_of_sqlite

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[Transaction]:
        """Open a transaction for leases. On PostgreSQL it has its own connection, so it never waits for other work."""
        if self.is_sqlite:
            async with self._writing() as connection:
                yield Transaction(connection, self._vault)
        else:
            async with _connected(self._keeper) as connection, connection.begin():
                yield Transaction(connection, self._vault)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """Open a transaction that only reads. It sees one state of the database and takes no write lock."""
        with READ_SECONDS.time(), ERRORS.count_exceptions(StoreDown):
            async with self._reading() as connection:
                yield Transaction(connection, self._vault)

    async def has_usable_tables(self) -> bool:
        """Check that the database answers. Return whether this program can work on its tables.

        Raises:
            StoreDown: the database doesn't answer, or has no tables.
        """
        async with self.reading() as tx:
            found: str | None = await tx.connection.scalar(migrate.REVISION)
            return found == migrate.get_expected_revision()

    def unreadable_rows(self) -> frozenset[str]:
        """Return the rows that were skipped since this process began because nobody can read them, as "table key"."""
        return frozenset(self._vault.unreadable)

    def left_rows(self) -> frozenset[str]:
        """Return the rows that this process can't read, and that still wait for others that can, as "table key"."""
        return self._vault.left.find(waiting=True)

    def record_left(self, table: str, key: object) -> None:
        """Record that this process has met a row whose meaning it doesn't know, and that others may."""
        self._vault.left.record(f"{table} {key}")

    def unreadable_keys(self, table: str) -> frozenset[str]:
        """Return the keys of the unreadable rows of one table. Workers skip them, and the monitor raises an alarm."""
        return _keys_of(table, self._vault.unreadable)

    def left_keys(self, table: str) -> frozenset[str]:
        """Return the keys of the rows of one table that this process has met lately, and that others may read."""
        return _keys_of(table, self._vault.left.find())

    async def can_write(self, *, in_new_session: bool = False) -> bool:
        """Return whether PostgreSQL takes a write of this process, in one of its sessions or in a new one."""
        engine = create_keeper(self._address, self._writer, self._owner) if in_new_session else self._writer
        try:
            async with _connected(engine) as connection, connection.begin():
                await connection.execute(TOUCH, {"me": self._owner})
        except StoreDown:
            return False
        finally:
            if engine is not self._writer:
                await engine.dispose()
        return True

    async def find_forbidden_table(self) -> str | None:
        """Return a table that this program's role on PostgreSQL may not read and write, or None."""
        if self.is_sqlite:
            return None
        async with self.reading() as tx:
            found: str | None = await tx.connection.scalar(FORBIDDEN)
            return found

    async def upgrade(self) -> str:
        """Bring the tables up to date, and return their revision."""
        return await migrate.upgrade_at(self._address)

    async def check(self) -> str:
        """Return the revision of the tables.

        Raises:
            SchemaMismatch: the program can't work on them.
            StoreDown: the database can't be reached.
        """
        found = await migrate.read_revision_at(self._address)
        if found != migrate.get_expected_revision():
            raise SchemaMismatch(found, migrate.list_revisions())
        return found

    async def is_current(self) -> bool:
        """Return whether this program can work on the tables."""
        return await migrate.read_revision_at(self._address) == migrate.get_expected_revision()

    async def check_before_start(self) -> None:
        """Check, without writing, that this process can work on the database. It can upgrade tables that are older.

        Raises:
            SchemaMismatch: this program can't upgrade the tables.
            MissingKey: the database needs a key that the program doesn't have.
        """
        found = await migrate.read_revision_at(self._address)
        migrate.check_upgradable(found)
        if found == migrate.get_expected_revision():
            await self.check_keys()

    async def check_keys(self) -> None:
        """Check that the program has every key that the database needs, and that living processes know its first key.

        Raises:
            MissingKey: a key is missing, or another process doesn't know the first key.
        """
        async with self.reading() as tx:
            await keys.check_keys(tx.connection, self._vault)
            if not self.is_sqlite:
                keys.check_others(self._vault, await ProcessRepository(tx, self._owner).find_others())

    async def register_first_key(self) -> None:
        """Record that the database needs the first key. Call it when this process begins to act as the bot.

        On PostgreSQL the process is recorded, too, if it has an id.

        Raises:
            MissingKey: the database needs a key that the program doesn't have, or another process doesn't know the
                first key.
        """
        async with self._writing() as connection:
            if not self.is_sqlite:
                await self._register_process(Transaction(connection, self._vault))
            await keys.register_first_key(connection, self._vault)

    async def _register_process(self, tx: Transaction) -> None:
        known = ProcessRepository(tx, self._owner)
        await known.lock()
        await known.delete_expired()
        keys.check_others(self._vault, await known.find_others())
        if self._owner:
            await known.keep()

    async def is_sealed_otherwise(self) -> bool:
        """Return whether a living process seals with another key than this program's first one."""
        if self.is_sqlite:
            return False
        async with self.reading() as tx:
            others = await ProcessRepository(tx, self._owner).find_others()
        return any(names[0] != self._vault.first_key_name for names in others)

    async def is_first_key_registered(self) -> bool:
        """Return whether a bot was started with this first key. A running bot can then read what the key encrypts."""
        async with self._reading() as connection:
            return await keys.is_first_key_registered(connection, self._vault)

    async def count_sealed_rows(self) -> Mapping[str, keys.SealedRows]:
        """Return for each table how many rows are sealed, and how many of these with an older key.

        Raises:
            MissingKey: a row is sealed with a key that the program doesn't have.
        """
        async with self._reading() as connection:
            return await keys.count_sealed_rows(connection, self._vault)

    def rotate(self) -> AsyncIterator[keys.Progress]:
        """Seal rows of older keys with the first key, while the bot runs. It can be interrupted."""
        return keys.rotate(self._writing, self._vault)

    async def finish_rotation(self) -> int:
        """Delete older keys from the list of needed ones if no row uses them. Return how many rows still do."""
        async with self._writing() as connection:
            remaining = sum(each.waiting for each in (await keys.count_sealed_rows(connection, self._vault)).values())
            if not remaining:
                await keys.delete_older_keys(connection, self._vault)
        await self.erase_deleted()
        return remaining

    async def erase_deleted(self) -> bool:
        """Erase deleted data from the database's files, too. Return False if that has to wait."""
        return await empty_write_ahead_log(self._address)

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite, where one process works alone."""
        return self._address.is_sqlite

    @asynccontextmanager
    async def exclude_others(self, waiting: Callable[[], None] | None = None) -> AsyncIterator[None]:
        """Lock a SQLite database for this process. Wait while another has it. On PostgreSQL several may work.

        `waiting` is called once if another process has it now.
        """
        if self._address.path is None:
            yield
            return
        async with file_lock.hold(self._address.path, waiting) as self._lock:
            yield

    async def watch_lock(self) -> None:
        """Wait until a SQLite database is no longer locked for this process.

        Raises:
            StoreDown: it is no longer.
        """
        if self._lock is not None:
            await self._lock.watch()

    async def check_server(self) -> None:
        """Check that PostgreSQL is one that several processes can work on.

        Raises:
            UnsuitableServer: it is too old, or behind a pooler, its clock differs, or a privilege is missing.
            StoreDown: it can't be reached, or only takes reads.
        """
        if not self.is_sqlite:
            async with _connected(self._writer) as connection, _connected(self._writer) as another:
                await check_server(connection)
                await check_sessions(connection, another)

    def create_wakeups(self, owner: str, *, wake: Callable[[str], None]) -> "SharedWakeups | None":
        """Return the wake-ups that reach other processes, or None on SQLite, where there are none."""
        if self.is_sqlite:
            return None
        from bot.infra.db.wakeups import SharedWakeups  # noqa: PLC0415  asyncpg is loaded only if it is used

        return SharedWakeups(self._address, owner, wake)

    async def close(self) -> None:
        """Close every connection. No transaction may be open."""
        if self._sqlite_writer is not None:
            await self._sqlite_writer.close()
        if self._sqlite_readers is not None:
            self._sqlite_readers.close()
        await self._writer.dispose()
        await self._reader.dispose()
        await self._keeper.dispose()
        self._address.delete_temporary()


def _keys_of(table: str, rows: Iterable[str]) -> frozenset[str]:
    start = f"{table} "
    return frozenset(row.removeprefix(start) for row in rows if row.startswith(start))


@asynccontextmanager
async def _connected(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Yield a connection of the pool. Raise `StoreDown` for every error of the database."""
    with _translated_errors():
        connection = await _connect(engine)
        try:
            yield connection
        finally:
            await connection.close()


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        # The error's text and causes quote rows, so only the traceback is kept.
        raise translate_error(error).with_traceback(error.__traceback__) from None
    except TimeoutError:
        raise StoreDown("it doesn't answer") from None  # PostgreSQL's driver has waited `COMMAND_SECONDS`
    except SQLAlchemyError as error:
        raise StoreDown(type(error).__name__) from error


async def _connect(engine: AsyncEngine) -> AsyncConnection:
    try:
        return await engine.connect()
    except OSError as error:
        raise translate_connection_error(error) from error
    except (DBAPIError, ValueError) as error:
        if not is_about_parameters(error):
            raise
        why = "a parameter or its value isn't known, see Addresses of PostgreSQL in docs/setup.md"
        raise UnusableUrl(why) from None
