"""The worker that monitors the bot and the service.

It runs in two loops, so that a request without an answer doesn't delay the alarm about that.
"""

from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.operations.monitor import Monitor
from bot.orders.tracking.poller import Poller

CHECK_INTERVAL = timedelta(seconds=5)
MAX_MISSED_CHECKS = 3
"""If more checks than this are missing, this whole process stood still. Then the poller isn't late."""


class MonitorWorker:
    """Check everything every few seconds.

    `silence` is how much later than announced the poller may be.
    """

    def __init__(self, monitor: Monitor, poller: Poller, clock: Clock, silence: timedelta) -> None:
        self._monitor = monitor
        self._poller = poller
        self._clock = clock
        self._silence = silence
        self._silence_counts_from = self._checked_at = clock.now()

    async def begin_to_lead(self) -> None:
        """Count the silence of the poller from now, because another process may have led until now."""
        self._silence_counts_from = self._checked_at = self._clock.now()
        await self._monitor.begin_to_lead()

    async def check(self) -> float:
        """Check everything once, and return the seconds until the next time."""
        now = self._clock.now()
        if now - self._checked_at > MAX_MISSED_CHECKS * CHECK_INTERVAL:
            self._silence_counts_from = now
        self._checked_at = now
        await self._monitor.check_all(self._silent_since(now))
        return CHECK_INTERVAL.total_seconds()

    async def report_rows(self) -> float:
        """Report the rows that this process can't read, and return the seconds until the next time."""
        await self._monitor.report_rows()
        return CHECK_INTERVAL.total_seconds()

    async def probe(self) -> float:
        """Send a request to the service if it is time to, and return the seconds until the next time."""
        await self._monitor.probe()
        return 1.0

    def _silent_since(self, now: datetime) -> datetime | None:
        expected = max(self._poller.expected_at, self._silence_counts_from)
        return expected if now - expected > self._silence else None
