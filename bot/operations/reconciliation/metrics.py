"""The metrics of reconciliations."""

from collections import Counter
from typing import Final

from bot.infra.db.database import Database
from bot.infra.metrics import counter, gauge
from bot.operations.reconciliation.model import DifferenceKind
from bot.operations.reconciliation.repository import ReconciliationRepository

RUNS: Final = counter(
    "kirim_reconciliations",
    "Comparisons of the service's list with our orders. Only those of a `full` list are proof.",
    result=("full", "short", "empty", "failed"),
)
DIFFERENCES: Final = gauge(
    "kirim_reconciliation_differences",
    "Differences between the service and our orders that the newest comparison found.",
    kind=tuple(kind.value for kind in DifferenceKind),
)


async def refresh_gauges(database: Database) -> None:
    """Read the differences of the newest run."""
    async with database.reading() as tx:
        run = await ReconciliationRepository(tx).newest()
    counts = Counter(difference.kind for difference in run.differences) if run else Counter[DifferenceKind]()
    for kind in DifferenceKind:
        DIFFERENCES.labels(kind.value).set(counts[kind])
