"""Pauses before a failed action is retried."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

_MAX_STEPS: Final = 64
"""After this many steps a wait exceeds any limit, and a float can still hold it."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits in seconds that grow with each failure.

    Attributes:
        first: after the first failure.
        longest: the maximum wait.
        factor: how many times longer each wait is than the one before.
    """

    first: float
    longest: float = math.inf
    factor: float = 2.0

    def after(self, failures: int) -> float:
        """Return the seconds to wait after `failures` (1 or more) failures in a row."""
        return min(self.first * self.factor ** min(failures - 1, _MAX_STEPS), self.longest)

    def next_wait(self, wait: float) -> float:
        """Return the next wait after one of `wait` seconds."""
        return min(wait * self.factor, self.longest)

    def waits(self) -> Iterator[float]:
        """Yield the waits after the first failure, the second and so on, forever."""
        wait = min(self.first, self.longest)
        while True:
            yield wait
            wait = self.next_wait(wait)


@dataclass(frozen=True, slots=True)
class FixedWaits:
    """A fixed sequence of waits in seconds. The last one repeats."""

    seconds: tuple[float, ...]

    def waits(self) -> Iterator[float]:
        """Yield the waits after the first failure, the second and so on, forever."""
        return chain(self.seconds, repeat(self.seconds[-1]))
