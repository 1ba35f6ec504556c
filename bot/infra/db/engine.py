"""Connections: one that writes and a few that read on SQLite, one pool for both on PostgreSQL."""

import sqlite3
import time
from typing import Any, Final

from sqlalchemy import Compiled, Connection, event
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import LRUCache

from bot.infra.db.address import Address
from bot.infra.db.sqlite import connect

READERS = 4
"""SQLite's readers: they never wait for the writer, nor it for them (write-ahead log)."""

POSTGRESQL_CONNECTIONS = 8
BUSY_TIMEOUT_SECONDS = 30
"""How long to wait for another process's write (SQLite) or for a free connection (PostgreSQL)."""

BUSY_TRIES, BUSY_PAUSE_SECONDS = 100, 0.02

# FULL, because NORMAL may lose the last commits in a power cut, and an intent that is lost after its POST is
# money nobody looks for. It costs one flush of the log a commit: 0.1 to 0.4 ms on an ordinary SSD, measured.
SQLITE_SETTINGS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA secure_delete=ON",  # what is deleted is overwritten, not only forgotten
)

MOST_STATEMENTS = 500
"""How many compiled statements are kept for each kind of database; the store has far fewer."""


class Statements(LRUCache[Any, Compiled]):
    """The compiled statements of all engines on one kind of database.

    SQLAlchemy keeps them for each engine and finds them by its dialect object too, so SQLite's reader and writer would
    each compile the same statements. All our engines on one kind of database compile alike.
    """

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:  # noqa: ANN401  as in the class above
        """Return the compiled statement of any engine."""
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Compiled) -> None:
        """Keep a compiled statement for all engines."""
        super().__setitem__(key[1:], compiled)


_SQLITE_STATEMENTS: Final = Statements(MOST_STATEMENTS)
_POSTGRESQL_STATEMENTS: Final = Statements(MOST_STATEMENTS)


def writer(address: Address) -> AsyncEngine:
    """Return the engine whose transactions write; on SQLite there is a single connection in it."""
    if not address.is_sqlite:
        return _postgresql(address)
    return _sqlite(address, connections=1, begin="BEGIN IMMEDIATE")


def reader(address: Address, writing: AsyncEngine) -> AsyncEngine:
    """Return the engine whose transactions only read, each of them one moment of the database."""
    if not address.is_sqlite:
        return writing.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return _sqlite(address, connections=READERS, begin="BEGIN", settings=(*SQLITE_SETTINGS, "PRAGMA query_only=ON"))


def _postgresql(address: Address) -> AsyncEngine:
    return create_async_engine(
        address.url,
        # Said here, whatever the server's or the role's own default: writers count on seeing what others have just
        # committed, and an intent must be on the disk before its POST.
        isolation_level="READ COMMITTED",
        execution_options={"compiled_cache": _POSTGRESQL_STATEMENTS},
        hide_parameters=True,  # an exception's text must not quote a user's account
        pool_size=POSTGRESQL_CONNECTIONS,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_SECONDS,
        # Compiling a plan for the processor takes longer than any query here.
        connect_args={
            "server_settings": {
                "jit": "off",
                "plan_cache_mode": "force_custom_plan",
                "application_name": "kirim",
                "synchronous_commit": "on",
            }
        },
    )


def _sqlite(
    address: Address, *, connections: int, begin: str, settings: tuple[str, ...] = SQLITE_SETTINGS
) -> AsyncEngine:
    if address.path is not None:
        address.path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(
        address.url,
        execution_options={"compiled_cache": _SQLITE_STATEMENTS},
        hide_parameters=True,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_SECONDS,
        # We begin by ourselves, before the first read: the driver's own way is to begin before a write only, and
        # so to read and write in two transactions.
        connect_args={"async_creator_fn": connect, "isolation_level": None, "cached_statements": 256},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def set_up(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for setting in settings:
            _set(cursor, setting)
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _set(cursor: DBAPICursor, setting: str) -> None:
    # Changing a new file over to the write-ahead log fails at once, however patient one is, while another process
    # does the same; whoever tries again finds it done.
    for _ in range(BUSY_TRIES):
        try:
            cursor.execute(setting)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(BUSY_PAUSE_SECONDS)
        else:
            return
    cursor.execute(setting)
