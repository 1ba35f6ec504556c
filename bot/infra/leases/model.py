"""A held lease, and how long it lasts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

LEASE_SECONDS: Final = 5.0
"""How long a lease lasts on PostgreSQL if its owner doesn't keep it."""

KEEP_SECONDS: Final = 1.5
"""How often an owner keeps its leases. It can fail twice before they end."""

MARGIN_SECONDS: Final = 0.5
"""How much earlier its owner regards a lease as lost. A request that began just before is then over, or nearly."""


@dataclass(frozen=True, slots=True)
class Term:
    """Until when a lease surely lasts, by this process's own monotonic clock.

    The time is counted from before the request for the lease, so the database's row lasts at least as long.
    """

    seconds: Callable[[], float]
    ends_at: float

    @property
    def is_running(self) -> bool:
        """Whether the lease surely lasts now."""
        return self.seconds() < self.ends_at

    def end(self) -> "Term":
        """Return a term that is over. Other leases can share this one."""
        return replace(self, ends_at=float("-inf"))
