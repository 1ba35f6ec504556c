"""A held lease, and how long it lasts."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from bot.infra.db.fence import LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import LeaseRepository

LEASE_SECONDS: Final = 5.0
"""How long a lease lasts on PostgreSQL if its owner doesn't keep it."""

KEEP_SECONDS: Final = 1.5
"""How often an owner keeps its leases. It can fail twice before they end."""

MARGIN_SECONDS: Final = 0.5
"""How much earlier its owner regards a lease as lost. A request that began just before is then over, or nearly."""


@dataclass(frozen=True, slots=True)
class Term:
    """Until when a lease surely lasts, by this process's own monotonic clock, which goes on while the machine sleeps.

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


@dataclass(slots=True, eq=False)
class Lease(ABC):
    """A lease that this process holds. It is the fence of the work under it.

    Attributes:
        owner: the random id of this process.
        epoch: grows with each claim.
        term: how long it lasts.
        is_alone: whether no other process can take it.
    """

    owner: str
    epoch: int
    term: Term
    is_alone: bool

    @property
    def is_held(self) -> bool:
        """Whether the lease surely lasts, as far as this process knows."""
        return self.term.is_running

    async def check(self, tx: Transaction) -> None:
        """Lock the row until the end of the transaction.

        Raises:
            LeaseLost: another process has the lease, or could have it.
        """
        if not self.is_held:
            raise LeaseLost
        if not self.is_alone and not await self._lock(LeaseRepository(tx, self.owner)):
            self.term = self.term.end()
            raise LeaseLost

    @abstractmethod
    async def _lock(self, repository: LeaseRepository) -> bool:
        """Lock the row. Return whether it is still this lease's."""
