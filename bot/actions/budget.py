"""A request budget: so many requests a second to the service, and not one more."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic


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
        self._gap = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._next = clock()
        self._turns = asyncio.Lock()

    def room_within(self, seconds: float) -> int:
        """How many requests could start within the next `seconds`."""
        free_from = max(self._next, self._clock())
        return max(int((self._clock() + seconds - free_from) / self._gap), 0)

    async def take(self) -> None:
        """Wait for one's turn: the gap to the one before is counted from when that one really began."""
        async with self._turns:
            wait = self._next - self._clock()
            if wait > 0:
                await self._sleep(wait)
            self._next = self._clock() + self._gap
