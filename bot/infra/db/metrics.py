"""The metrics of the database."""

from typing import Final

from bot.infra.db.errors import RowUnreadable, RuleBroken, StoreDown
from bot.infra.metrics import counter, gauge, histogram

POOLS: Final = ("reader", "writer")

TRANSACTION_SECONDS: Final = histogram(
    "kirim_database_transaction_seconds",
    "How long a transaction took, with the wait for its connection.",
    (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
    kind=("read", "write"),
)
READ_SECONDS: Final = TRANSACTION_SECONDS.labels("read")
WRITE_SECONDS: Final = TRANSACTION_SECONDS.labels("write")
CONNECTIONS_IN_USE: Final = gauge(
    "kirim_database_connections_in_use",
    "Connections to PostgreSQL that are used now. It has one pool for both.",
    pool=POOLS,
)
CONNECTIONS_LIMIT: Final = gauge(
    "kirim_database_connections_limit", "Connections to PostgreSQL that can be used at once.", pool=POOLS
)
UNWRITABLE_SECONDS: Final = gauge(
    "kirim_database_unwritable_seconds", "For how long PostgreSQL has taken no write of this process. 0 while it does."
)
ERRORS: Final = counter(
    "kirim_database_errors",
    "Transactions that failed, by what happened.",
    kind=("unavailable", "rule_broken", "row_unreadable"),
)


def count_error(error: BaseException) -> None:
    """Count a transaction that failed. An error that isn't the database's own isn't counted."""
    match error:
        case RowUnreadable():
            ERRORS.labels("row_unreadable").inc()
        case RuleBroken():
            ERRORS.labels("rule_broken").inc()
        case StoreDown():
            ERRORS.labels("unavailable").inc()
