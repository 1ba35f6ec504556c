"""How often alarms about destinations are false, and how soon they come.

`python -m tests.orders.destination_simulation` lives months of one destination with the rules of
`bot/orders/destinations/model.py`. The times of transfers are lognormal, and whole days are slower or faster than
others. Its figures are in docs/decisions/operations.md.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.orders.destinations.model import (
    COUNTS_WITHIN,
    DestinationHealth,
    History,
    RecentTransfer,
    SentTransfer,
    Usual,
    judge,
    measure,
)
from bot.orders.destinations.repository import RECENTLY_CREATED
from bot.settlement.model import PayoutMethod

START: Final = datetime(2026, 3, 1, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
METHOD: Final = PayoutMethod("014", "BANK BCA", "bank")
MEDIAN: Final = 4 * MINUTE
DAYS: Final = 30
SAMPLE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A destination: transfers a day, how much their times differ, how much days differ, and how many fail.

    From `slow_from` on, times are `slow_factor` as long. From `failing_from` on, `failing_share` fail.
    """

    a_day: float
    spread: float = 0.8
    spread_of_days: float = 0.3
    fail_share: float = 0.02
    slow_from: datetime | None = None
    slow_factor: float = 10
    failing_from: datetime | None = None
    failing_share: float = 0.9


@dataclass(slots=True)
class Month:
    """What happened in a month: how often each alarm was raised, and when first."""

    slow: int = 0
    failing: int = 0
    first_slow: datetime | None = None
    first_failing: datetime | None = None


def transfers(world: World, chance: random.Random, begin: datetime, days: float) -> Iterator[RecentTransfer]:
    """Yield transfers from `begin` on, in order, each by another sender."""
    at, number = begin, 0
    factors = [chance.lognormvariate(0, world.spread_of_days) for _ in range(int(days) + 2)]
    while True:
        at += DAY * chance.expovariate(world.a_day)
        if at >= begin + DAY * days:
            return
        number += 1
        length = MEDIAN * chance.lognormvariate(0, world.spread) * factors[(at - begin) // DAY]
        if world.slow_from is not None and at >= world.slow_from:
            length *= world.slow_factor
        is_failing = world.failing_from is not None and at >= world.failing_from
        is_failed = chance.random() < (world.failing_share if is_failing else world.fail_share)
        end = at + length
        yield RecentTransfer(key=METHOD.key(), payer=number, paid_at=at, ended_at=end, seen_at=end, is_failed=is_failed)


def learn(world: World, chance: random.Random) -> Usual:
    """Return what 30 days without trouble say about the destination."""
    healthy = replace(world, slow_from=None, failing_from=None)
    past = list(transfers(healthy, chance, START - DAYS * DAY, DAYS))
    settled = [each for each in past if each.paid_at < START - DAY]
    failed = [each for each in past if each.is_failed]
    sent = [SentTransfer(each.paid_at, each.lasted) for each in past if not each.is_failed]
    history = History(
        method=METHOD,
        sent=len(sent),
        failed=len(failed),
        settled_sent=sum(not each.is_failed for each in settled),
        settled_failed=sum(each.is_failed for each in settled),
        last_sent_at=None,
        sample=sorted(chance.sample(sent, min(SAMPLE, len(sent))), key=lambda each: each.paid_at),
    )
    return measure(history, START)


def live(world: World, chance: random.Random, days: float = DAYS) -> Month:
    """Live a month, and judge whenever something could change: a transfer becomes late, or ends."""
    usual, found = learn(world, chance), Month()
    limit = usual.limits.usual.late_after if usual.limits else None
    every = list(transfers(world, chance, START, days))
    moments = {each.ended_at for each in every if each.ended_at is not None}
    moments |= {each.paid_at + limit + MINUTE / 60 for each in every} if limit else set()
    before = DestinationHealth(usual=usual)
    first = last = 0
    for now in sorted(moments):
        while last < len(every) and every[last].paid_at <= now:
            last += 1
        while first < last and every[first].paid_at < now - RECENTLY_CREATED:
            first += 1
        health = judge({METHOD.key(): usual}, _seen(every[first:last], now), now).by_key[METHOD.key()]
        if health.slow and not before.slow:
            found.slow += 1
            found.first_slow = found.first_slow or now
        if health.failing and not before.failing:
            found.failing += 1
            found.first_failing = found.first_failing or now
        before = health
    return found


def _seen(some: list[RecentTransfer], now: datetime) -> list[RecentTransfer]:
    """Return the transfers as the bot knows them at this moment."""
    return [
        each
        if each.ended_at is not None and each.ended_at <= now
        else replace(each, ended_at=None, seen_at=now, is_failed=False)
        for each in some
        if each.ended_at is None or each.ended_at >= now - COUNTS_WITHIN
    ]


def count_false_alarms(world: World, months: int, seed: int = 1) -> tuple[float, float]:
    """Return the false alarms of each kind for one destination and month."""
    chance = random.Random(seed)
    lived = [live(world, chance) for _ in range(months)]
    return sum(each.slow for each in lived) / months, sum(each.failing for each in lived) / months


def find_delays(world: World, times: int, seed: int = 2) -> tuple[list[float], list[float]]:
    """Return after how many minutes each kind of trouble was noticed. Trouble that wasn't is left out."""
    chance, begins = random.Random(seed), START + DAY / 2
    slow, failing = [], []
    for _ in range(times):
        lived = live(replace(world, slow_from=begins), chance, days=3.5)
        if lived.first_slow is not None and lived.first_slow >= begins:
            slow.append((lived.first_slow - begins) / MINUTE)
        lived = live(replace(world, failing_from=begins), chance, days=3.5)
        if lived.first_failing is not None and lived.first_failing >= begins:
            failing.append((lived.first_failing - begins) / MINUTE)
    return sorted(slow), sorted(failing)


ROWS: Final = (
    World(a_day=2),
    World(a_day=10, spread=0.5),
    World(a_day=10),
    World(a_day=10, spread=1.2),
    World(a_day=10, spread_of_days=0.6, fail_share=0.05),
    World(a_day=100),
    World(a_day=100, fail_share=0.05),
    World(a_day=100, spread_of_days=0.6),
    World(a_day=400),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--months", type=int, default=300, help="to live for each row with 10 transfers a day")
    months = arguments.parse_args().months
    _write("transfers a day", "spread", "days differ by", "fail", "months", "false `slow`", "false `failing`")
    _write(*["---"] * 7)
    for world in ROWS:
        lived = max(round(months * 10 / max(world.a_day, 10)), 3)
        false_slow, false_failing = count_false_alarms(world, lived)
        cells = (world.a_day, world.spread, world.spread_of_days, f"{world.fail_share:.0%}", lived)
        _write(*map(str, cells), f"{false_slow:.2f}", f"{false_failing:.2f}")
    _write("transfers a day", "slow: noticed", "after (median)", "failing: noticed", "after (median)")
    _write(*["---"] * 5)
    for a_day in (10, 30, 100, 400):
        times = max(months // 10, 5)
        slow, failing = find_delays(World(a_day=a_day), times)
        _write(str(a_day), _share(slow, times), _middle(slow), _share(failing, times), _middle(failing))


def _write(*cells: str) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def _share(noticed: list[float], times: int) -> str:
    return f"{len(noticed) / times:.0%}"


def _middle(noticed: list[float]) -> str:
    return f"{noticed[len(noticed) // 2]:.0f} min" if noticed else "–"  # noqa: RUF001  meant as a dash


if __name__ == "__main__":
    main()
