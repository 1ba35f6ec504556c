"""The statistics behind the figures: intervals of quantiles and shares, and tests. No function assumes a distribution.

All intervals hold with 95%, which leaves 2.5% on each side.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

ON_EACH_SIDE: Final = 0.025
_HALVINGS: Final = 40


@lru_cache(maxsize=4096)
def find_ranks(count: int, share: float) -> tuple[int | None, int | None]:
    """Return the ranks, from 1, of the values between which a quantile of the whole lies. None if too few are known.

    A value of the sample is below the quantile with the chance `share`, so how many are is binomial. The lower rank is
    the highest one that is hardly ever above the quantile, the upper rank the lowest one that is hardly ever below it.
    """
    below, lower = 0.0, None
    for rank in range(1, count + 1):
        below += _chance_of(count, rank - 1, share)
        if below > ON_EACH_SIDE:
            break
        lower = rank
    above, upper = 0.0, None
    for rank in range(count, 0, -1):
        above += _chance_of(count, rank, share)
        if above > ON_EACH_SIDE:
            break
        upper = rank
    return lower, upper


@lru_cache(maxsize=4096)
def chance_of_at_least(hits: int, count: int, chance: float) -> float:
    """Return how likely `hits` or more of `count` independent events are, if each has this chance."""
    return math.fsum(_chance_of(count, number, chance) for number in range(hits, count + 1))


@lru_cache(maxsize=4096)
def find_highest_share(hits: int, count: int) -> float:
    """Return the upper end of the interval of a share (Clopper and Pearson). `count` is at least 1."""
    low, high = hits / count, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        as_few = math.fsum(_chance_of(count, number, middle) for number in range(hits + 1))
        low, high = (middle, high) if as_few > ON_EACH_SIDE else (low, middle)
    return high


def compare(first: Sequence[int], second: Sequence[int]) -> float:
    """Return how likely the values of both samples would differ at least so much if they came from the same source.

    This is the rank test of Mann and Whitney, with its normal approximation. From 20 values on, that is close enough.
    """
    sizes, count = (len(first), len(second)), len(first) + len(second)
    ranks, ties, place = {}, 0, 0
    for value, times in sorted(Counter([*first, *second]).items()):
        ranks[value] = place + (times + 1) / 2
        ties += times**3 - times
        place += times
    excess = math.fsum(ranks[value] for value in first) - sizes[0] * (count + 1) / 2
    variance = sizes[0] * sizes[1] / 12 * (count + 1 - ties / (count * (count - 1)))
    return math.erfc(abs(excess) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def _chance_of(count: int, hits: int, chance: float) -> float:
    """Return how likely exactly so many of `count` independent events are."""
    if chance in {0.0, 1.0}:
        return float(hits == count * chance)
    ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(ways + hits * math.log(chance) + (count - hits) * math.log1p(-chance))
