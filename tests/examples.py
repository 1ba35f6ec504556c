"""How many random examples and kills a test tries. `HYPOTHESIS_EXAMPLES` and `make quick` change it for all tests."""

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
    """The share of its usual number that each test tries."""

    of_usual: float = int(CHOSEN) / USUAL if CHOSEN else 1.0


def be_quick() -> None:
    """Try only a part, unless `HYPOTHESIS_EXAMPLES` is set."""
    if not CHOSEN:
        _Part.of_usual = QUICK_PART


def examples(usual: int = USUAL) -> int:
    """Return how many examples to try. `usual` is the number in a whole run."""
    return max(1, round(usual * _Part.of_usual))


def kill_every() -> int:
    """Return the distance between two moments at which a test kills: 1 in a whole run, which kills at each."""
    return max(1, round(1 / _Part.of_usual))


def some(cases: Sequence[T]) -> Sequence[T]:
    """Return some of many similar cases. A whole run tries all."""
    return cases[:: kill_every()]
