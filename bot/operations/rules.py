"""The settings by which the bot is monitored."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRules:
    """The settings of operations."""

    operator_ids: frozenset[int] = frozenset()
    backlog_after: timedelta = timedelta(seconds=60)
    """How long notifications can wait without an alarm."""

    shrink_percent: Decimal = Decimal(50)
    """How much of the list of payout methods may disappear without an alarm."""

    poller_silence: timedelta = timedelta(seconds=60)
    """How much later than announced the poller may be."""

    overdue_after: timedelta = timedelta(minutes=30)
    """How long after its payment an order that hasn't ended counts as overdue in the metrics."""

    heartbeat_url: str = ""
    """A secret address that is called once a minute while the bot works. Empty means none."""
