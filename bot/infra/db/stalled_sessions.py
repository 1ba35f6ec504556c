"""Ends sessions of PostgreSQL whose process has stopped, so that no other process waits for their locks.

PostgreSQL itself ends a session that is silent for some seconds between two statements of a transaction. That isn't
enough for a process that freezes or is cut off:

- The driver sends a new statement in two parts, one to prepare it and one to execute it. The time-out doesn't run
  between the two.
- Two sessions of the process can wait for each other's locks. When the first is ended, the second gets them, and is
  silent for as long again.
"""

from collections.abc import Collection, Mapping
from typing import Final

import structlog
from sqlalchemy import TextClause, bindparam, text

from bot.infra.db.columns import POSTGRESQL
from bot.infra.db.engine import IDLE_IN_TRANSACTION_MILLISECONDS, PROGRAM_NAME, create_session_name
from bot.infra.db.transaction import Transaction

log = structlog.get_logger(__name__)

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
END_OF_OWNERS: Final = text(f"{END} AND application_name IN :names").bindparams(bindparam("names", expanding=True))


async def end_stalled_sessions(tx: Transaction, *, milliseconds: int = IDLE_IN_TRANSACTION_MILLISECONDS) -> int:
    """End sessions that have waited so long for the second part of a statement, and return how many. 0 on SQLite."""
    ended = await _end(tx, END_STALLED, {"program": PROGRAM_NAME, "milliseconds": milliseconds})
    if ended:
        log.warning("stalled_sessions_ended", sessions=ended)
    return ended


async def end_sessions_of(tx: Transaction, owners: Collection[str]) -> int:
    """End all sessions of processes whose leases have ended, and return how many. 0 on SQLite.

    A process that still works connects again. What it had not committed, it does again if it still has to.
    """
    if not owners:
        return 0
    ended = await _end(tx, END_OF_OWNERS, {"names": [create_session_name(owner) for owner in owners]})
    if ended:
        log.warning("stopped_process_disconnected", sessions=ended)
    return ended


async def _end(tx: Transaction, statement: TextClause, values: Mapping[str, object]) -> int:
    """End sessions at once: they stay ended even if this transaction fails. SQLite has none."""
    if tx.connection.dialect.name != POSTGRESQL:
        return 0
    ended: int = (await tx.connection.execute(statement, values)).scalar_one()
    return ended
