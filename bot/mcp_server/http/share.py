"""How many calls a minute takes, as arithmetic: without waiting and without a clock."""

import math
from collections import deque
from dataclasses import dataclass

MINUTE = 60


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a wish to call.

    Args:
        granted: whether it may go on.
        remaining: how many more may come at once.
        seconds: until a place is free again that is taken now; whole, at least 1.
    """

    granted: bool
    remaining: int
    seconds: int


class Share:
    """A bearer's share: `limit` calls in any 60 seconds. What is refused takes nothing of it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._taken: deque[float] = deque()

    def take(self, now: float) -> Standing:
        """Take a place if one is free. `now` is in seconds, on a clock that never goes back."""
        while self._taken and self._taken[0] <= now - MINUTE:
            self._taken.popleft()
        granted = len(self._taken) < self.limit
        if granted:
            self._taken.append(now)
        seconds = math.ceil(self._taken[0] + MINUTE - now)
        return Standing(granted, self.limit - len(self._taken), max(1, min(seconds, MINUTE)))
