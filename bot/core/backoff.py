"""How long to wait before something that failed is tried again."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

_MOST_STEPS: Final = 64
"""A wait that has grown so often is longer than any limit, and far from what a float can hold."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits in seconds that grow from failure to failure.

    Attributes:
        first: after the first failure.
        longest: what no wait exceeds.
        factor: how many times longer each wait is than the one before.
    """

    first: float
    longest: float = math.inf
    factor: float = 2.0

    def after(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row, at least 1."""
        return min(self.first * self.factor ** min(failures - 1, _MOST_STEPS), self.longest)

    def longer(self, wait: float) -> float:
        """Return the seconds to wait where `wait` seconds weren't enough."""
        return min(wait * self.factor, self.longest)

    def waits(self) -> Iterator[float]:
        """Yield the waits after the first failure, the second and so on, without end."""
        wait = min(self.first, self.longest)
        while True:
            yield wait
            wait = self.longer(wait)


@dataclass(frozen=True, slots=True)
class Steps:
    """Waits in seconds that follow no rule; the last one is repeated."""

    steps: tuple[float, ...]

    def waits(self) -> Iterator[float]:
        """Yield the waits after the first failure, the second and so on, without end."""
        return chain(self.steps, repeat(self.steps[-1]))
