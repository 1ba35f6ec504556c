"""(j) Seven hundred thousand orders in one line: how many are read correctly, and how long a line takes."""

import time
from typing import Final

from bot.checkout.parser import read_line
from tests.benchmarks.report import Row, Spread
from tests.checkout.order_lines import METHODS, Case, Tally, cases, slipped

SEEDS: Final = (100_000, 200_000, 300_000, 400_000)
LINES, FEW_LINES = 125_000, 500
SLIPPED, FEW_SLIPPED = 50_000, 125
"""Lines for each seed."""


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    read_line("500rb bca 1234567890 Budi", METHODS)
    tally, times = Tally(), list[float]()
    torn, count_torn = Tally(), 0
    for seed in SEEDS:
        for case in cases(seed, FEW_LINES if quick else LINES):
            times.append(_timed(tally, case))
        for case in slipped(seed, FEW_SLIPPED if quick else SLIPPED):
            _timed(torn, case)
            count_torn += 1
    count = f"{len(times):,} lines"
    return [
        Row(part="j", measured=f"{count} with a known truth: a wrong part accepted without asking", ours=_wrong(tally)),
        Row(
            part="j",
            measured="of those that name destination, number and sum: straight to the review / asked back / refused",
            ours=_shares(tally, "whole"),
            versus="the ordinary ones among them",
            theirs=_shares(tally, "ordinary"),
        ),
        Row(
            part="j",
            measured=f"{count_torn:,} lines with a mark slipped in among figures: a wrong part accepted without asking",
            ours=_wrong(torn),
        ),
        Row(part="j", measured="reading one line: processor time, median / p99", ours=str(Spread.from_times(times))),
    ]


def _timed(tally: Tally, case: Case) -> float:
    began = time.process_time()
    line = read_line(case.text, METHODS)
    took = time.process_time() - began
    tally.add(case, line)
    return took


def _wrong(tally: Tally) -> str:
    return f"{len(tally.wrong):,}"


def _shares(tally: Tally, kind: str) -> str:
    counts = [tally.lines[f"{kind} {outcome}"] for outcome in ("understood", "asked", "refused")]
    return " / ".join(f"{count / max(sum(counts), 1):.1%}" for count in counts)
