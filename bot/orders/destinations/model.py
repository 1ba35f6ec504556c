"""Which records the typical times shown to customers are measured from, and how many are needed."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final

from bot.core.zones import PRESUMED
from bot.settlement.model import PayoutMethod

SAMPLE_PERIOD: Final = timedelta(days=30)
"""Only records created this recently are measured."""

MIN_SAMPLES: Final = 20
"""With fewer records, nothing is shown."""


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
    if chance in {0.0, 1.0}:
        return float(hits == count * chance)
    ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(ways + hits * math.log(chance) + (count - hits) * math.log1p(-chance))


MINUTE: Final = timedelta(minutes=1)

SETTLED_AFTER: Final = timedelta(days=1)
"""Only transfers that were paid so long ago say what is usual. Otherwise a trouble would soon look usual."""

NIGHT_BEGINS, NIGHT_ENDS = 22, 6
"""Hours in Jakarta, where the banks and most recipients are."""

SATURDAY: Final = 5
DIFFERS_BELOW: Final = 0.001
"""Nights and weekends are said to differ if chance would make them differ so much less often than this."""

MIN_RATIO: Final = 1.5
"""And if the medians differ by this factor, and by a minute."""

MAX_RATIO: Final = 2
"""A median is said to senders if its interval ends at no more than this multiple of its beginning."""

MAX_WIDTH: Final = 2 * MINUTE
"""Or if the interval isn't longer than this."""

LATE_FACTOR: Final = 2
LATE_MARGIN: Final = 2 * MINUTE
"""A transfer is late after this multiple of the time in which 9 in 10 are sent, and at least so much later."""

LATE_CHANCE: Final = 0.1
"""A transfer that takes longer than 9 in 10 do has no higher chance than this."""

LATE_BELOW: Final = 1e-3
FAILED_BELOW: Final = 1e-5
"""There is trouble if chance would show so many late or failed transfers less often than this.

Lateness needs less, because `LATE_CHANCE` is far above the true chance. A simulation judged both: see
docs/decisions/operations.md.
"""

NEWEST: Final = 10
"""Trouble shows in the newest transfers, up to so many."""

ENDS_AFTER: Final = 3
"""Trouble needs at least so many transfers, and is over after so many in a row without it."""

COUNTS_WITHIN: Final = timedelta(days=1)
"""Transfers that ended longer ago than this say nothing about now."""

LATE_WITHIN: Final = timedelta(hours=3)
"""A destination isn't slow any longer if no late transfer is open or ended within this time."""

MOST: Final = 0.5
"""If so large a share of the transfers to the other destinations has the same trouble, it isn't the destination's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutTimes:
    """The time from the payment to the payout, over a number of `orders` to all destinations.

    Half of them took `median` or less, and nine in ten took `slow` or less.
    """

    orders: int
    median: timedelta
    slow: timedelta

    @property
    def has_enough_samples(self) -> bool:
        """Whether there are enough orders for a reliable statement."""
        return self.orders >= MIN_SAMPLES


class WeekPart(StrEnum):
    """A part of the week, by Jakarta's time."""

    WORKDAY = "workday"
    WEEKEND = "weekend"
    NIGHT = "night"


def find_week_part(moment: datetime) -> WeekPart:
    """Return the part of the week that a moment belongs to. A night at the weekend is a night."""
    local = moment.astimezone(PRESUMED)
    if local.hour >= NIGHT_BEGINS or local.hour < NIGHT_ENDS:
        return WeekPart.NIGHT
    return WeekPart.WEEKEND if local.weekday() >= SATURDAY else WeekPart.WORKDAY


@dataclass(frozen=True, slots=True)
class Estimate:
    """A quantile of the sample, and the ends of its 95% interval."""

    value: timedelta
    low: timedelta
    high: timedelta

    @property
    def is_precise(self) -> bool:
        """Whether it can be told to a sender without misleading them."""
        return self.high <= MAX_RATIO * self.low or self.high - self.low <= MAX_WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long `count` transfers took. `ninety` is what nine in ten didn't exceed, None below 36 transfers."""

    count: int
    median: Estimate
    ninety: Estimate | None

    @property
    def late_after(self) -> timedelta | None:
        """How long a transfer can take until it is late. None if that isn't known."""
        if self.ninety is None:
            return None
        return max(LATE_FACTOR * self.ninety.high, self.ninety.high + LATE_MARGIN)


@dataclass(frozen=True, slots=True)
class TimesOfWeek:
    """The usual times, and those of the parts of the week that differ from them."""

    usual: Times
    different: Mapping[WeekPart, Times] = field(default_factory=dict)

    def at(self, moment: datetime) -> Times:
        """Return the times of transfers that are paid at this moment."""
        return self.different.get(find_week_part(moment), self.usual)


@dataclass(frozen=True, slots=True)
class SentTransfer:
    """When a transfer was paid, and how long it took."""

    paid_at: datetime
    took: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The transfers to one destination that ended, over 30 days.

    `settled_sent` and `settled_failed` are those of them that were paid before `SETTLED_AFTER`. `sample` has some of
    the sent ones, at random.
    """

    method: PayoutMethod
    sent: int
    failed: int
    settled_sent: int
    settled_failed: int
    last_sent_at: datetime | None
    sample: Sequence[SentTransfer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """What is known of a destination from 30 days.

    `times` are of all transfers. `limits` are of settled ones: they decide which transfers are late. `fail_chance` is
    the highest chance that a transfer fails, as far as settled transfers show it.
    """

    method: PayoutMethod
    sent: int
    failed: int
    last_sent_at: datetime | None
    times: TimesOfWeek | None = None
    limits: TimesOfWeek | None = None
    fail_chance: float | None = None

    @property
    def finished(self) -> int:
        """How many transfers were sent or failed."""
        return self.sent + self.failed

    @property
    def is_known(self) -> bool:
        """Whether enough transfers have ended to say anything."""
        return self.finished >= MIN_SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTransfer:
    """A transfer that is open or ended lately.

    `seen_at` is when the service last reported on it. What happened since isn't known.
    """

    key: str
    payer: int | str
    paid_at: datetime
    ended_at: datetime | None
    seen_at: datetime
    is_failed: bool = False

    @property
    def lasted(self) -> timedelta:
        """How long it took, or has taken as far as we know."""
        return (self.ended_at or self.seen_at) - self.paid_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """`hits` of the newest `count` transfers are late or failed, since the first of them.

    `is_alone` says whether other destinations don't have the same trouble. `length` is how long a transfer takes now,
    or at least takes (`is_longer`). It is only known of slow ones.
    """

    since: datetime
    hits: int
    count: int
    is_alone: bool = True
    length: timedelta | None = None
    is_longer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationHealth:
    """A destination: what is usual, and what is wrong now."""

    usual: Usual
    slow: Trouble | None = None
    failing: Trouble | None = None

    @property
    def method(self) -> PayoutMethod:
        """The destination."""
        return self.usual.method


@dataclass(frozen=True, slots=True)
class DestinationsHealth:
    """All destinations with transfers, by the keys of their methods (`PayoutMethod.key`)."""

    at: datetime
    by_key: Mapping[str, DestinationHealth]

    def of(self, method: PayoutMethod | None) -> DestinationHealth | None:
        """Return what is known of a destination, if anything."""
        return self.by_key.get(method.key()) if method else None

    def known(self) -> list[DestinationHealth]:
        """Return the destinations with enough transfers, the most used ones first."""
        known = [each for each in self.by_key.values() if each.usual.is_known]
        return sorted(known, key=lambda each: (-each.usual.finished, each.method.pair))


def measure(history: History, now: datetime) -> Usual:
    """Return what 30 days say about a destination."""
    settled = [each for each in history.sample if each.paid_at < now - SETTLED_AFTER]
    count = history.settled_sent + history.settled_failed
    return Usual(
        method=history.method,
        sent=history.sent,
        failed=history.failed,
        last_sent_at=history.last_sent_at,
        times=measure_week(history.sample),
        limits=measure_week(settled),
        fail_chance=find_highest_share(history.settled_failed, count) if count >= MIN_SAMPLES else None,
    )


def measure_week(sent: Sequence[SentTransfer]) -> TimesOfWeek | None:
    """Return how long transfers take, and apart from that nights and weekends where they differ. None if too few."""
    if len(sent) < MIN_SAMPLES:
        return None
    left, different = list(sent), {}
    for part in (WeekPart.NIGHT, WeekPart.WEEKEND):
        within = [each.took for each in left if find_week_part(each.paid_at) is part]
        others = [each for each in left if find_week_part(each.paid_at) is not part]
        if min(len(within), len(others)) >= MIN_SAMPLES and _do_differ(within, [each.took for each in others]):
            different[part] = measure_times(within)
            left = others
    return TimesOfWeek(measure_times([each.took for each in left]), different)


def measure_times(lengths: Iterable[timedelta]) -> Times:
    """Return the median and what nine in ten didn't exceed, with the errors of both. At least 20 lengths are needed."""
    ordered = sorted(lengths)
    count = len(ordered)
    median = _estimate(ordered, 0.5, (ordered[(count - 1) // 2] + ordered[count // 2]) / 2)
    if median is None:
        raise ValueError(count)
    return Times(count=count, median=median, ninety=_estimate(ordered, 0.9, ordered[-(-count * 9 // 10) - 1]))


def _estimate(ordered: Sequence[timedelta], share: float, value: timedelta) -> Estimate | None:
    lower, upper = find_ranks(len(ordered), share)
    return Estimate(value, ordered[lower - 1], ordered[upper - 1]) if lower and upper else None


def _do_differ(first: Sequence[timedelta], second: Sequence[timedelta]) -> bool:
    short, long = sorted((measure_times(first).median.value, measure_times(second).median.value))
    if long < MIN_RATIO * short or long - short < MINUTE:
        return False
    microsecond = timedelta(microseconds=1)
    return compare([each // microsecond for each in first], [each // microsecond for each in second]) < DIFFERS_BELOW


@dataclass(frozen=True, slots=True)
class _Judged:
    """The transfers to one destination that can be judged, in order, and whether each of them is a hit: late or failed.

    `begun` are the times by which they are ordered. `run` is where trouble began, if there is trouble now.
    """

    hits: Sequence[bool] = ()
    begun: Sequence[datetime] = ()
    run: int | None = None

    def since(self, moment: datetime) -> Sequence[bool]:
        """Return the hits since that time."""
        return self.hits[bisect_left(self.begun, moment) :]


def judge(usual: Mapping[str, Usual], recent: Iterable[RecentTransfer], now: datetime) -> DestinationsHealth:
    """Return how each destination is doing.

    Alarms and what senders are told both come from here. The same rows give the same result in every process.
    """
    of = dict[str, list[RecentTransfer]]()
    for transfer in sorted(recent, key=lambda each: each.paid_at):
        of.setdefault(transfer.key, []).append(transfer)
    speeds = {key: _judge_speed(known, of.get(key, ()), now) for key, known in usual.items()}
    failures = {key: _judge_failures(known, of.get(key, ()), now) for key, known in usual.items()}
    return DestinationsHealth(
        now,
        {
            key: DestinationHealth(
                usual=known,
                slow=_find_slow(speeds, key, of.get(key, ())),
                failing=_find_trouble(failures, key),
            )
            for key, known in usual.items()
        },
    )


def _judge_speed(usual: Usual, transfers: Iterable[RecentTransfer], now: datetime) -> _Judged:
    """Judge the transfers that were paid so long ago that they are late, if they aren't sent.

    Newer ones would show only those that were fast. An open one is late if the service reported it open after that.
    """
    judged, hits = list[RecentTransfer](), list[bool]()
    for transfer in transfers:
        limit = usual.limits.at(transfer.paid_at).late_after if usual.limits else None
        is_over = transfer.ended_at is not None and transfer.ended_at < now - COUNTS_WITHIN
        if limit is None or is_over or transfer.is_failed or now - transfer.paid_at < limit:
            continue
        is_late = transfer.lasted > limit
        if is_late or transfer.ended_at is not None:
            judged.append(transfer)
            hits.append(is_late)
    run = find_run(hits, LATE_CHANCE, LATE_BELOW, needs_most=True)
    newest = max((each.ended_at or now for each, is_late in zip(judged, hits, strict=True) if is_late), default=now)
    return _Judged(hits, [each.paid_at for each in judged], run if newest >= now - LATE_WITHIN else None)


def _judge_failures(usual: Usual, transfers: Iterable[RecentTransfer], now: datetime) -> _Judged:
    """Judge the newest ended transfer of each sender: one who repeats a wrong number says nothing about a bank."""
    newest = dict[int | str, tuple[datetime, bool]]()
    for transfer in transfers:
        ended_at = transfer.ended_at
        if ended_at is None or ended_at < now - COUNTS_WITHIN:
            continue
        if transfer.payer not in newest or newest[transfer.payer][0] <= ended_at:
            newest[transfer.payer] = ended_at, transfer.is_failed
    judged = sorted(newest.values())
    hits = [is_failed for _, is_failed in judged]
    run = None if usual.fail_chance is None else find_run(hits, usual.fail_chance, FAILED_BELOW)
    return _Judged(hits, [ended_at for ended_at, _ in judged], run)


def find_run(hits: Sequence[bool], chance: float, below: float, *, needs_most: bool = False) -> int | None:
    """Return the first hit of the trouble that the newest transfer is part of, or None if there is none.

    It goes through all transfers, oldest first, so that trouble neither begins nor ends with every single one: it
    begins when the newest few can't be chance, and ends with a few in a row without it.

    Args:
        hits: whether each transfer is late or failed.
        chance: the highest chance of a single hit without trouble.
        below: how unlikely the newest ones must be without trouble.
        needs_most: whether more than half of them have to be hits.
    """
    begin, run = 0, None
    for end in range(1, len(hits) + 1):
        if run is None:
            firsts = _find_beginnings(hits, max(begin, end - NEWEST), end, needs_most=needs_most)
            found = ((first, sum(hits[first:end]), end - first) for first in firsts)
            run = next((first for first, late, count in found if chance_of_at_least(late, count, chance) < below), None)
        elif not any(hits[end - ENDS_AFTER : end]):
            begin, run = end, None
    return run


def _find_beginnings(hits: Sequence[bool], first: int, end: int, *, needs_most: bool) -> Iterator[int]:
    """Yield the hits from which on enough of the newest transfers are hits, the newest first."""
    for begin in range(end - ENDS_AFTER, first - 1, -1) if hits[end - 1] else ():
        found = sum(hits[begin:end])
        if hits[begin] and found >= ENDS_AFTER and (not needs_most or 2 * found > end - begin):
            yield begin


def _find_trouble(judged: Mapping[str, _Judged], key: str) -> Trouble | None:
    run = judged[key].run
    if run is None:
        return None
    since, newest = judged[key].begun[run], judged[key].hits[max(run, len(judged[key].hits) - NEWEST) :]
    others = [each.since(since) for other, each in judged.items() if other != key]
    return Trouble(since=since, hits=sum(newest), count=len(newest), is_alone=not _is_common(others))


def _is_common(others: Iterable[Sequence[bool]]) -> bool:
    """Return whether the other destinations have the same trouble. Each counts alike, however much it is used."""
    known = [hits for hits in others if hits]
    if sum(map(len, known)) < ENDS_AFTER:
        return False
    return sum(sum(hits) / len(hits) for hits in known) >= MOST * len(known)


def _find_slow(judged: Mapping[str, _Judged], key: str, transfers: Sequence[RecentTransfer]) -> Trouble | None:
    trouble = _find_trouble(judged, key)
    if trouble is None:
        return None
    counted = judged[key].begun[-trouble.count]
    length, is_longer = find_median([each for each in transfers if each.paid_at >= counted and not each.is_failed])
    return replace(trouble, length=length, is_longer=is_longer)


def find_median(transfers: Iterable[RecentTransfer]) -> tuple[timedelta, bool]:
    """Return how long half of the transfers take, open ones included, and whether it is longer than that.

    An open transfer only shows that it takes longer than until now (the estimate of Kaplan and Meier).
    """
    ordered = sorted(transfers, key=lambda each: (each.lasted, each.ended_at is None))
    share, left = 1.0, len(ordered)
    for transfer in ordered:
        if transfer.ended_at is not None:
            share *= 1 - 1 / left
            if share <= MOST + 1e-9:
                return transfer.lasted, False
        left -= 1
    return ordered[-1].lasted, True
