"""Looks after the bot itself every few seconds, and asks the service for something where nobody else does.

Two loops: a probe that waits for an answer which never comes must not keep anybody from hearing of that.
"""

from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.operations.monitor import Monitor
from bot.orders.tracking.poller import Poller

CHECK_INTERVAL = timedelta(seconds=5)
MAX_MISSED_CHECKS = 3
"""After so many looks that didn't come, it was this process that stood still, and with it everything it watches."""


class MonitorWorker:
    """`silence` is how long the poller may give no sign of life beyond the rest it has announced."""

    def __init__(self, monitor: Monitor, poller: Poller, clock: Clock, silence: timedelta) -> None:
        self._monitor = monitor
        self._poller = poller
        self._clock = clock
        self._silence = silence
        self._silence_counts_from = self._checked_at = clock.now()

    async def check(self) -> float:
        """One look at everything."""
        now = self._clock.now()
        if now - self._checked_at > MAX_MISSED_CHECKS * CHECK_INTERVAL:
            self._silence_counts_from = now
        self._checked_at = now
        await self._monitor.check_all(self._silent_since(now))
        return CHECK_INTERVAL.total_seconds()

    async def probe(self) -> float:
        """Ask the service, if it is time to."""
        await self._monitor.probe()
        return 1.0

    def _silent_since(self, now: datetime) -> datetime | None:
        expected = max(self._poller.expected_at, self._silence_counts_from)
        return expected if now - expected > self._silence else None
