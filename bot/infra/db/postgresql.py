"""What only PostgreSQL needs: a check at the start, and the end of sessions whose process has stopped.

Several processes need a recent server, close clocks and their own sessions.

PostgreSQL itself ends a session that is silent for some seconds between two statements of a transaction. That isn't
enough for a process that freezes or is cut off:

- The driver sends a new statement in two parts, one to prepare it and one to execute it. The time-out doesn't run
  between the two.
- Two sessions of the process can wait for each other's locks. When the first is ended, the second gets them, and is
  silent for as long again.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.reasons import database_reason
from bot.infra.db.engine import IDLE_IN_TRANSACTION_MILLISECONDS, PROGRAM_NAME, create_session_name
from bot.infra.db.errors import StoreDown, UnsuitableServer
from bot.infra.db.transaction import Transaction

log = structlog.get_logger(__name__)

OLDEST_VERSION: Final = 13
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
"""Leases go by the database's clock, but times in rows by those of the machines. A lease bears this difference."""

FORBIDDEN: Final = text(
    "SELECT min(c.relname::text) FROM pg_class c"
    " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND NOT"
    " (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')"
    " AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))"
)
SERVER: Final = text(
    "SELECT current_setting('server_version_num')::int / 10000 AS version,"
    " current_setting('idle_in_transaction_session_timeout', true) AS timeout,"
    " clock_timestamp() AS time, current_user AS role, current_schema() AS schema,"
    " coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,"
    " current_setting('transaction_read_only')::bool AS only_reads,"
    f" ({FORBIDDEN.text}) AS forbidden"
)

BACKEND: Final = text("SELECT pg_backend_pid()")
BEHIND_POOLER: Final = "it is behind a connection pooler such as PgBouncer, which {}: connect to PostgreSQL itself"


async def check_sessions(first: AsyncConnection, second: AsyncConnection) -> None:
    """Check that each of two connections has a process of the server (backend) of its own, through two transactions.

    A pooler gives a backend to whoever has a transaction. Most poolers give the second connection that of the first.

    Raises:
        UnsuitableServer: a pooler is in between. The text says what to do.
    """
    backend = await first.scalar(BACKEND)
    await first.commit()
    other = await second.scalar(BACKEND)  # the transaction stays open, so the first can't get this backend again
    if backend == other or backend != await first.scalar(BACKEND):
        raise UnsuitableServer(BEHIND_POOLER.format("shares a session between connections"))


async def check_server(connection: AsyncConnection) -> None:
    """Check the version, the clock, the privileges, and that no pooler drops the settings of a session.

    Raises:
        UnsuitableServer: one of them is wrong. The text says which, and what to do.
        StoreDown: the server only takes reads.
    """
    before = datetime.now(UTC)
    found = (await connection.execute(SERVER)).one()
    after = datetime.now(UTC)
    if found.version < OLDEST_VERSION:
        raise UnsuitableServer(
            f"it is PostgreSQL {found.version}, and Kirim needs {OLDEST_VERSION} or newer: upgrade the server"
        )
    if found.timeout != f"{IDLE_IN_TRANSACTION_MILLISECONDS // 1000}s":
        raise UnsuitableServer(BEHIND_POOLER.format("drops the settings of a session"))
    offset = max((before - found.time).total_seconds(), (found.time - after).total_seconds(), 0.0)
    if offset > MAX_CLOCK_OFFSET_SECONDS:
        raise UnsuitableServer(
            f"its clock differs from this machine's by {offset:.1f} seconds, and Kirim bears"
            f" {MAX_CLOCK_OFFSET_SECONDS:.0f}: synchronise both clocks (NTP)"
        )
    if found.only_reads:
        raise StoreDown(database_reason("25006"))
    if found.schema is None or not found.may_create:
        raise UnsuitableServer(
            f"the role {found.role} may not create tables there: GRANT CREATE, USAGE ON SCHEMA"
            f" {found.schema or 'public'} TO {found.role}"
        )
    if found.forbidden is not None:
        raise UnsuitableServer(
            f"the role {found.role} may not read and write the table {found.forbidden}: GRANT ALL ON ALL TABLES IN"
            f" SCHEMA {found.schema} TO {found.role}"
        )


# A role may always end its own sessions.
END: Final = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user"
)
END_STALLED: Final = text(
    f"{END} AND (application_name = :program OR starts_with(application_name, :program || ' '))"
    " AND state = 'active' AND wait_event = 'ClientRead'"
    " AND query_start < clock_timestamp() - :milliseconds * interval '1 millisecond'"
)
END_OF_OWNERS: Final = text(f"{END} AND application_name = ANY(CAST(:names AS text[]))")


async def end_stalled_sessions(tx: Transaction, *, milliseconds: int = IDLE_IN_TRANSACTION_MILLISECONDS) -> None:
    """End sessions that have waited so long for the second part of a statement."""
    values = {"program": PROGRAM_NAME, "milliseconds": milliseconds}
    ended = await tx.connection.scalar(END_STALLED, values)
    if ended:
        log.warning("stalled_sessions_ended", sessions=ended)


async def end_sessions_of(tx: Transaction, owners: Collection[str]) -> None:
    """End all sessions of processes that have stopped. They stay ended even if this transaction fails.

    A process that still works connects again. What it had not committed, it does again if it still has to.
    """
    names = [create_session_name(owner) for owner in owners]
    ended = await tx.connection.scalar(END_OF_OWNERS, {"names": names}) if names else 0
    if ended:
        log.warning("stopped_process_disconnected", sessions=ended)
