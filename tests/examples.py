"""How many random examples and kills a test tries: `HYPOTHESIS_EXAMPLES` and `make quick` change it for all alike."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

USUAL: Final = 40
CHOSEN: Final = os.environ.get("HYPOTHESIS_EXAMPLES")
QUICK_PART: Final = 0.1


class _Part:
    """Which part of its usual number each test looks at."""

    of_usual: float = int(CHOSEN) / USUAL if CHOSEN else 1.0


def be_quick() -> None:
    """Look at a part only, unless a number was asked for."""
    if not CHOSEN:
        _Part.of_usual = QUICK_PART


def examples(usual: int = USUAL) -> int:
    """Return how many examples to look at where `usual` is right for a whole run."""
    return max(1, round(usual * _Part.of_usual))


def kill_every() -> int:
    """Return how many moments lie between two kills: 1 in a whole run, which kills at every moment."""
    return max(1, round(1 / _Part.of_usual))


def some(cases: Sequence[T]) -> Sequence[T]:
    """Return the cases to try of many similar ones: all of them in a whole run."""
    return cases[:: kill_every()]
