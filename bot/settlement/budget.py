"""Limits of requests to the service: the total per second, and one read per second for each order."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import structlog

log = structlog.get_logger(__name__)

START_PER_SECOND = 10.0
LEAST_PER_SECOND = 0.5
GROWTH = 0.1
"""How much the rate grows per second without a rejection, in requests a second."""

GAP_SECONDS = 1.1
"""Between two reads of one order. A little over a second: requests don't all take the same time to arrive."""

REMEMBERED = 10_000

ONE_REJECTION_SECONDS = 2.0
"""Rejections within this time count as one. Requests already sent at the first rejection are still at the old rate."""


class Budget:
    """Evenly spaced requests: up to `per_second` within any second, even if a waiting caller wakes late.

    `clock` gives monotonic seconds and `sleep` waits. Tests replace both.
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
        self._lock = asyncio.Lock()

    @property
    def per_second(self) -> float:
        """Return the current limit of requests a second."""
        return self._per_second

    def remaining_within(self, seconds: float) -> int:
        """Return how many requests can start within the next `seconds`."""
        free_from = max(self._next, self._clock())
        return max(int((self._clock() + seconds - free_from) * self.per_second), 0)

    async def take(self) -> None:
        """Wait until the next request can start. The gap is counted from the actual start of the last request."""
        async with self._lock:
            wait = self._next - self._clock()
            if wait > 0:
                await self._sleep(wait)
            self._next = self._clock() + 1 / self.per_second


class AdaptiveBudget(Budget):
    """A budget that adapts to the service's limit, which isn't documented. A rejection halves the rate.

    Without rejections the rate grows by one request a second every ten seconds, up to `most`. It starts at 10 a second
    and never falls below one request in two seconds. If `most` is lower, it is used for both.
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
        self._same_rejection_until = clock()

    @property
    def per_second(self) -> float:
        """Return the current limit of requests a second."""
        return min(self._per_second + GROWTH * (self._clock() - self._grows_from), self._most)

    def halve(self) -> None:
        """Halve the rate after a rejection (429). Rejections within the next two seconds count as the same one."""
        now = self._clock()
        if now < self._same_rejection_until:
            return
        self._per_second = max(self.per_second / 2, min(LEAST_PER_SECOND, self._most))
        self._grows_from, self._same_rejection_until = now, now + ONE_REJECTION_SECONDS
        log.info("request_rate_halved", per_second=round(self._per_second, 2))


class OrderPace:
    """The limit of one read per second for each order, for all parts of the bot (settlement API, 6.3).

    The service rejects faster polling. A rejection caused by a user's tap would also make the poller pause. `clock`
    gives monotonic seconds and `sleep` waits. Tests replace both.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._last: dict[str, float] = {}

    async def take(self, service_id: str) -> None:
        """Wait until this order can be read again. Usually that is at once."""
        now = self._clock()
        read_at = max(self._last.pop(service_id, now - GAP_SECONDS) + GAP_SECONDS, now)
        self._last[service_id] = read_at
        self._forget_old(now)
        if read_at > now:
            await self._sleep(read_at - now)

    def _forget_old(self, now: float) -> None:
        """Forget orders that were read more than a second ago."""
        if len(self._last) > REMEMBERED:
            self._last = {name: read_at for name, read_at in self._last.items() if read_at > now - GAP_SECONDS}
