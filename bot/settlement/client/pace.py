"""No order is asked for more than once a second, whoever of the bot asks (settlement API, 6.3).

The service refuses faster polling, and a refusal that a person's tap has caused would make the poller rest.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

GAP_SECONDS = 1.05
"""A little over the second: requests don't all take the same time to arrive."""

REMEMBERED = 10_000


class OrderPace:
    """Turns by order. `clock` gives monotonic seconds and `sleep` waits; both can be virtual."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._last: dict[str, float] = {}

    async def take(self, service_id: str) -> None:
        """Wait until this order may be asked for again; most often that is now."""
        now = self._clock()
        turn = max(self._last.pop(service_id, now - GAP_SECONDS) + GAP_SECONDS, now)
        self._last[service_id] = turn
        self._forget(now)
        if turn > now:
            await self._sleep(turn - now)

    def _forget(self, now: float) -> None:
        """Whatever was asked for a second ago may be asked for again, remembered or not."""
        if len(self._last) > REMEMBERED:
            self._last = {name: turn for name, turn in self._last.items() if turn > now - GAP_SECONDS}
