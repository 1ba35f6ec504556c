"""Transactions over one database, SQLite or PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

import structlog
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import QueuePool

from bot.infra.db import keys, migrate, sqlite, sqlite_files
from bot.infra.db.address import parse_database_url
from bot.infra.db.engine import create_keeper, create_reader, create_writer
from bot.infra.db.errors import (
    SchemaMismatch,
    StoreDown,
    UnknownValue,
    UnusableUrl,
    is_about_parameters,
    translate_connection_error,
    translate_error,
)
from bot.infra.db.fence import FENCE, SAVES_ANSWER
from bot.infra.db.postgresql import FORBIDDEN, check_server, check_sessions
from bot.infra.db.processes import TOUCH, ProcessRecord
from bot.infra.db.sqlite_files import empty_write_ahead_log
from bot.infra.db.transaction import Connection, Transaction
from bot.infra.db.vault import UnknownKey, Vault

if TYPE_CHECKING:
    from bot.infra.db.wakeups import SharedWakeups

log = structlog.get_logger(__name__)

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
        self._lock: sqlite_files.FileLock | None = None
        self._keeper = create_keeper(self._address, self._writer, owner)
        self._record = ProcessRecord(self._keeping, owner)
        self._unknown_key: UnknownKey | None = None
        self._met_unknown_key = asyncio.Event()
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
            LeaseLost: this process no longer holds the lease of the current work, or has to end. Nothing was saved.
        """
        saves_late_answer = SAVES_ANSWER.get() and self._record.has_ended
        if not saves_late_answer:
            await self._record.renew()
        on_rollback: list[Callable[[], None]] = []
        try:
            with WRITE_SECONDS.time(), ERRORS.count_exceptions(StoreDown), self._noticing_unknown_key():
                async with self._writing() as connection:
                    tx = Transaction(connection, self._vault, on_rollback=on_rollback)
                    if saves_late_answer:
                        await self._record.compare_for_answer(tx)
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

    @contextmanager
    def _noticing_unknown_key(self) -> Iterator[None]:
        try:
            yield
        except UnknownKey as error:
            self._unknown_key = error
            self._met_unknown_key.set()
            raise

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
        """Open a transaction for leases on PostgreSQL, on a connection of its own. It never waits for other work."""
        await self._record.renew()
        async with self._keeping() as tx:
            yield tx

    @asynccontextmanager
    async def _keeping(self) -> AsyncIterator[Transaction]:
        async with _connected(self._keeper) as connection, connection.begin():
            yield Transaction(connection, self._vault)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """Open a transaction that only reads. It sees one state of the database and takes no write lock."""
        await self._record.renew()
        with READ_SECONDS.time(), ERRORS.count_exceptions(StoreDown), self._noticing_unknown_key():
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
        """Return the rows that were skipped since this process began because they can't be read, as "table key"."""
        return frozenset(self._vault.unreadable)

    def unreadable_keys(self, table: str) -> frozenset[str]:
        """Return the keys of the unreadable rows of one table. Workers skip them, and the monitor raises an alarm."""
        return _keys_of(table, self._vault.unreadable)

    def damaged_keys(self, table: str) -> frozenset[str]:
        """Return the keys of those unreadable rows that no version can read. They can be given up."""
        return _keys_of(table, (row for row, error in self._vault.unreadable.items() if not error.is_unknown))

    def list_unknown(self, table: str) -> list[int]:
        """Return the keys of those unreadable rows that another version has written. They are never changed."""
        return sorted(int(key) for key in self.unreadable_keys(table) - self.damaged_keys(table))

    def record_unknown(self, table: str, key: object) -> None:
        """Record that a row has a kind that this version doesn't know. It stays as it is until an operator decides."""
        name = f"{table} {key}"
        if name not in self._vault.unreadable:
            self._vault.unreadable[name] = UnknownValue("its kind is unknown")
            log.error("row_unknown", row=name, command=f"kirim set-aside {name}")

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

    async def join(self) -> str:
        """Begin to work on the database, whose lock this process holds on SQLite. Return why it has to wait, or "".

        It has to wait on PostgreSQL, while a process of another version or with other keys works. Tables that this
        program can upgrade are older until `upgrade` is called.

        Raises:
            SchemaMismatch: this program can't upgrade the tables.
            MissingKey: the database needs a key that the program doesn't have.
        """
        found = await migrate.read_revision_at(self._address)
        migrate.check_upgradable(found)
        if found is None:
            await self.upgrade()
        if not self.is_sqlite:
            return await self._record.join()
        await self.register_first_key()
        return ""

    async def hold(self) -> NoReturn:
        """Keep the record of this process, or watch its lock on SQLite, until the process has to end.

        Raises:
            Replaced: others work on the database.
            UnknownKey: this process has met a row whose key it doesn't have. That key counts as needed from now on.
            StoreDown: the file of the lock was deleted.
        """
        holding = asyncio.create_task(self._lock.watch() if self._lock else self._record.run())
        meeting = asyncio.create_task(self._met_unknown_key.wait())
        try:
            await asyncio.wait({holding, meeting}, return_when=asyncio.FIRST_COMPLETED)
            if self._unknown_key is not None:
                async with self.transaction() as tx:
                    await keys.record_needed(tx.connection, self._unknown_key.name)
                raise self._unknown_key
            await holding
            raise AssertionError  # it waits for ever
        finally:
            holding.cancel()
            meeting.cancel()

    async def leave(self) -> None:
        """Delete the record of this process, which ends, so that a process that waits begins at once."""
        if not self.is_sqlite:
            await self._record.leave()

    async def check_keys(self) -> None:
        """Check that the program has every key that the database needs.

        Raises:
            MissingKey: a key is missing.
        """
        async with self.reading() as tx:
            await keys.check_keys(tx.connection, self._vault)

    async def register_first_key(self) -> None:
        """Record that the database needs the first key.

        Raises:
            MissingKey: the database needs a key that the program doesn't have.
        """
        async with self._writing() as connection:
            await keys.register_first_key(connection, self._vault)

    async def is_sealed_otherwise(self) -> bool:
        """Return whether a living process seals with another key than this program's first one."""
        if self.is_sqlite:
            return False
        async with self.reading() as tx:
            others = await self._record.find_others(tx)
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

        `waiting` is called each time that another process has it.
        """
        if self._address.path is None:
            yield
            return
        async with sqlite_files.hold(self._address.path, waiting) as self._lock:
            yield

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
