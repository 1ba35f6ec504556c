"""A request budget: so many requests a second to the service, and not one more."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import structlog

log = structlog.get_logger(__name__)

START_PER_SECOND = 10.0
LEAST_PER_SECOND = 0.5
GROWTH = 0.1
"""Requests a second that are added in each second without a rejection: one in ten seconds."""

ONE_REJECTION_SECONDS = 2.0
"""Requests that were under way when the first one was rejected say nothing about the halved rate."""


class Budget:
    """Evenly spaced turns: `per_second` at the most within any second, however late a waiter wakes.

    `clock` gives monotonic seconds and `sleep` waits; both can be virtual.
    """

    def __init__(
        self,
        per_second: float,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._next = clock()
        self._turns = asyncio.Lock()

    @property
    def per_second(self) -> float:
        """How many requests a second there may be now."""
        return self._per_second

    def remaining_within(self, seconds: float) -> int:
        """How many requests could start within the next `seconds`."""
        free_from = max(self._next, self._clock())
        return max(int((self._clock() + seconds - free_from) * self.per_second), 0)

    async def take(self) -> None:
        """Wait for one's turn: the gap to the one before is counted from when that one really began."""
        async with self._turns:
            wait = self._next - self._clock()
            if wait > 0:
                await self._sleep(wait)
            self._next = self._clock() + 1 / self.per_second


class AdaptiveBudget(Budget):
    """A budget that finds out what the service takes: it grows slowly up to `most`, and a rejection halves it.

    The service's own limit isn't documented. Without rejections the rate grows by one request a second in ten seconds,
    from 10 a second (or from `most`, if that is less). It never falls below one request in two seconds (or `most`).
    """

    def __init__(
        self,
        most: float,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(min(START_PER_SECOND, most), clock=clock, sleep=sleep)
        self._most = most
        self._grows_from = clock()
        self._is_one_until = clock()

    @property
    def per_second(self) -> float:
        """How many requests a second there may be now."""
        return min(self._per_second + GROWTH * (self._clock() - self._grows_from), self._most)

    def halve(self) -> None:
        """Take note of a rejection (429). Those within the next two seconds count as the same one."""
        now = self._clock()
        if now < self._is_one_until:
            return
        self._per_second = max(self.per_second / 2, min(LEAST_PER_SECOND, self._most))
        self._grows_from, self._is_one_until = now, now + ONE_REJECTION_SECONDS
        log.info("request_rate_halved", per_second=round(self._per_second, 2))
