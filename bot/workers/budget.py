"""The poller's request budget: so many a second to the service, and not one more."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic


class Budget:
    """A token bucket of one second's worth: at most `per_second` requests in any second after a quiet one.

    `clock` gives monotonic seconds and `sleep` waits; both can be virtual.
    """

    def __init__(
        self,
        per_second: float,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._gap = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def room_within(self, seconds: float) -> int:
        """How many requests could start within the next `seconds`."""
        free_from = max(self._next, self._clock())
        return max(int((self._clock() + seconds - free_from) / self._gap), 0)

    async def take(self) -> None:
        """Wait for one's turn: turns are evenly spaced."""
        turn = max(self._next, self._clock())
        self._next = turn + self._gap
        wait = turn - self._clock()
        if wait > 0:
            await self._sleep(wait)
