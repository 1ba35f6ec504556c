"""How many random examples a test looks at: `HYPOTHESIS_EXAMPLES` and `make quick` change it for all of them alike."""

from __future__ import annotations

import os
from typing import Final

USUAL: Final = 40
CHOSEN: Final = os.environ.get("HYPOTHESIS_EXAMPLES")
QUICK_PART: Final = 0.25


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
