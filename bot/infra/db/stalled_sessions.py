"""Ends sessions of PostgreSQL whose process has stopped in the middle of a statement.

PostgreSQL ends a session that is silent between two statements of a transaction, but not one that is silent within a
statement. The driver sends a new statement in two parts: one to prepare it and one to execute it. A process that
freezes or is cut off between the two would keep its locks until it came back, and other processes would wait for them.
"""

from typing import Final

import structlog
from sqlalchemy import text

from bot.infra.db.columns import POSTGRESQL
from bot.infra.db.engine import IDLE_IN_TRANSACTION_MILLISECONDS, PROGRAM_NAME
from bot.infra.db.transaction import Transaction

log = structlog.get_logger(__name__)

# A role may always end its own sessions.
END: Final = text(
    "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user AND application_name = :program"
    " AND state = 'active' AND wait_event = 'ClientRead'"
    " AND query_start < clock_timestamp() - :milliseconds * interval '1 millisecond'"
)


async def end_stalled_sessions(tx: Transaction, *, milliseconds: int = IDLE_IN_TRANSACTION_MILLISECONDS) -> int:
    """End sessions that have waited so long for the second part of a statement, and return how many. 0 on SQLite."""
    if tx.connection.dialect.name != POSTGRESQL:
        return 0
    values = {"program": PROGRAM_NAME, "milliseconds": milliseconds}
    ended: int = (await tx.connection.execute(END, values)).scalar_one()
    if ended:
        # At once: they stay ended even if this transaction fails.
        log.warning("stalled_sessions_ended", sessions=ended)
    return ended
