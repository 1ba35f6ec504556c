"""The worker of the leader that reconciles as often as the service's list turns over."""

from datetime import timedelta
from typing import Final

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.operations.reconciliation.service import ReconciliationService
from bot.settlement.model import SettlementFailure, SlowDown

log = structlog.get_logger(__name__)

FIRST_AFTER: Final = timedelta(minutes=1)
"""How long after the beginning of its lead a process waits: the poller first reads what has happened meanwhile."""

LONGEST_WAIT: Final = timedelta(minutes=1)
"""An operator can have reconciled meanwhile, so the time of the next run is read again after this."""

AFTER_FAILURES: Final = Backoff(first=30.0, longest=600.0)


class ReconciliationWorker:
    """Run reconciliations when they are due."""

    def __init__(self, service: ReconciliationService, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._not_before = clock.now() + FIRST_AFTER
        self._failures = 0

    async def begin_to_lead(self) -> None:
        """Wait for the poller, and forget the failures of an earlier lead."""
        self._not_before, self._failures = self._clock.now() + FIRST_AFTER, 0

    async def tick(self) -> float:
        """Run one if it is due. Return the seconds until the next call."""
        due = max(await self._service.find_due(), self._not_before)
        wait = min(due - self._clock.now(), LONGEST_WAIT)
        if wait > timedelta(0):
            return wait.total_seconds()
        try:
            run = await self._service.run()
        except SettlementFailure as failure:
            self._failures += 1
            pause = AFTER_FAILURES.after(self._failures)
            if isinstance(failure, SlowDown) and failure.retry_after:
                pause = max(pause, failure.retry_after)
            self._not_before = self._clock.now() + timedelta(seconds=pause)
            log.info("reconciliation_failed", error=type(failure).__name__, retry_in=pause)
            return min(pause, LONGEST_WAIT.total_seconds())
        self._failures = 0
        return max(min(run.next_at - self._clock.now(), LONGEST_WAIT).total_seconds(), 0.0)
