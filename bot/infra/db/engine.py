"""SQLAlchemy's connections to the database. On PostgreSQL all work is done on them.

On SQLite they open the connection that writes, and migrate. All other work is done in `infra/db/sqlite.py`.
"""

import math
import sqlite3
import time
from typing import Any, Final

import structlog
from sqlalchemy import URL, Connection, Dialect, ExceptionContext, event
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.infra.db.address import Address
from bot.infra.db.sqlite import (
    BUSY_TIMEOUT_SECONDS,
    BY_NAMES,
    MAX_STATEMENTS,
    SQLITE_OPTIONS,
    DriverConnection,
    StatementCache,
)

log = structlog.get_logger(__name__)

POSTGRESQL_STATEMENTS: Final = StatementCache(MAX_STATEMENTS)
POSTGRESQL_CONNECTIONS = 8
CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 30.0
KEEP_SECONDS = 2.5
"""How long to wait for PostgreSQL: to connect, for a statement, and for one that keeps leases."""

PROGRAM_NAME = "kirim"
"""How the `application_name` of each session on PostgreSQL begins. The random id of its process follows."""

IDLE_IN_TRANSACTION_MILLISECONDS = 4000
"""PostgreSQL ends a transaction without a statement for so long. It is less than a lease lasts."""

UNUSABLE: Final = frozenset({"25006", "42501", "42704", "57P01", "57P02", "57P03", "57P04", "57P05"})
"""The errors (SQLSTATE) of a session that can no longer do its work, although a new one may: it only reads, its role
lost a right or was replaced by one of the same name, or the server ends it."""

RENEW_SECONDS: Final = 5.0
"""The least time between two replacements of all sessions. If the new ones fail likewise, reads go on in them."""

# The server must notice when a machine vanishes. Otherwise its locks would stay.
KEEPALIVES: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
BUSY_TRIES, BUSY_PAUSE_SECONDS = 100, 0.02

# FULL, because NORMAL can lose the last commits in a power cut. If an intent were lost after its POST, the bot would
# never look for the order. FULL flushes the log at each commit: 0.1 to 0.4 ms on an ordinary SSD, measured.
SQLITE_SETTINGS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA secure_delete=ON",  # overwrites deleted data
)


def create_writer(address: Address, owner: str = "", *, command_seconds: float | None = COMMAND_SECONDS) -> AsyncEngine:
    """Return the engine for transactions that write.

    `owner` is the random id of this process. `command_seconds` is how long to wait for a statement on PostgreSQL. None
    means for ever, for migrations.
    """
    if not address.is_sqlite:
        return _create_postgresql(address, owner, command_seconds=command_seconds)
    return _create_sqlite(address)


def create_reader(address: Address, writing: AsyncEngine) -> AsyncEngine:
    """Return PostgreSQL's engine for transactions that only read. Each of them sees one state of the database."""
    if address.is_sqlite:
        return writing
    return writing.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def create_keeper(address: Address, writing: AsyncEngine, owner: str = "") -> AsyncEngine:
    """Return the engine that keeps leases on PostgreSQL, with one connection. On SQLite it is the writer."""
    if address.is_sqlite:
        return writing
    return _create_postgresql(address, owner, connections=1, command_seconds=KEEP_SECONDS)


def create_session_name(owner: str) -> str:
    """Return the `application_name` of the sessions of a process."""
    return f"{PROGRAM_NAME} {owner}".strip()


def _create_postgresql(
    address: Address, owner: str, *, connections: int = POSTGRESQL_CONNECTIONS, command_seconds: float | None
) -> AsyncEngine:
    engine = create_async_engine(
        # The address is in `connect_args`: SQLAlchemy would take its parameters for those of the driver.
        URL.create("postgresql+asyncpg"),
        # Set here, because the defaults of the server or the role can differ. A writer must see the latest commits.
        isolation_level="READ COMMITTED",
        execution_options={"compiled_cache": POSTGRESQL_STATEMENTS, **BY_NAMES},
        hide_parameters=True,  # an exception must not quote a user's account
        pool_size=connections,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_SECONDS,
        # Without `jit`: compiling a plan takes longer than any query here. `synchronous_commit`: an intent must be on
        # the disk before its POST.
        # `idle_in_transaction_session_timeout`: a process that freezes within a transaction must not keep its locks.
        connect_args=build_connect_args(
            address,
            command_seconds,
            application_name=create_session_name(owner),
            idle_in_transaction_session_timeout=str(IDLE_IN_TRANSACTION_MILLISECONDS),
            jit="off",
            plan_cache_mode="force_custom_plan",
            synchronous_commit="on",
        ),
    )
    _renew_unusable_sessions(engine)
    return engine


def _renew_unusable_sessions(engine: AsyncEngine) -> None:
    """Replace all sessions of the pool at the first error that says that one can no longer do its work."""
    next_at = -math.inf

    @event.listens_for(engine.sync_engine, "handle_error")
    def renew(context: ExceptionContext) -> None:
        nonlocal next_at
        code, now = getattr(context.original_exception, "sqlstate", None), time.monotonic()
        if code in UNUSABLE and now >= next_at:
            next_at = now + RENEW_SECONDS
            context.is_disconnect = True
            log.warning("database_sessions_renewed", code=code)


def build_connect_args(address: Address, command_seconds: float | None, **settings: str) -> dict[str, Any]:
    """Return what `asyncpg.connect` needs for a session with these settings, which go before those of the address."""
    return {
        "timeout": CONNECT_SECONDS,
        **address.connect_args,
        "command_timeout": command_seconds,
        "server_settings": {**KEEPALIVES, **settings},
    }


def _create_sqlite(address: Address) -> AsyncEngine:
    if address.path is not None:
        address.path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(
        address.url,
        execution_options=SQLITE_OPTIONS,
        hide_parameters=True,
        # We begin transactions ourselves, before the first read. The driver would begin before the first write, so
        # reads and writes would be in two transactions.
        connect_args={"isolation_level": None, "cached_statements": 256, "factory": DriverConnection},
    )

    @event.listens_for(engine.sync_engine, "do_connect")
    def check_file(
        _dialect: Dialect, _entry: ConnectionPoolEntry, address: list[Any], _options: dict[str, Any]
    ) -> None:
        # After an error, aiosqlite's thread reports its end to the event loop, which can be closed by then. So a file
        # that can't be opened is noticed here.
        sqlite3.connect(*address).close()

    @event.listens_for(engine.sync_engine, "connect")
    def apply_settings(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for setting in SQLITE_SETTINGS:
            _apply_setting(cursor, setting)
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _apply_setting(cursor: DBAPICursor, setting: str) -> None:
    # Switching a new file to the write-ahead log fails at once, despite the time-out, while another process does the
    # same. The next try succeeds.
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
