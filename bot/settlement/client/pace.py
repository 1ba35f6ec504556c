"""The limit of one read per second for each order, for all parts of the bot (settlement API, 6.3).

The service rejects faster polling. A rejection caused by a user's tap would also make the poller pause.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

GAP_SECONDS = 1.05
"""A little over a second: requests don't all take the same time to arrive."""

REMEMBERED = 10_000


class OrderPace:
    """Turns by order. `clock` gives monotonic seconds and `sleep` waits. Tests replace both."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._last: dict[str, float] = {}

    async def take(self, service_id: str) -> None:
        """Wait until this order can be read again. Usually that is at once."""
        now = self._clock()
        turn = max(self._last.pop(service_id, now - GAP_SECONDS) + GAP_SECONDS, now)
        self._last[service_id] = turn
        self._forget(now)
        if turn > now:
            await self._sleep(turn - now)

    def _forget(self, now: float) -> None:
        """Forget orders that were read more than a second ago."""
        if len(self._last) > REMEMBERED:
            self._last = {name: turn for name, turn in self._last.items() if turn > now - GAP_SECONDS}
