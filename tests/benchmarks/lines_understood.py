"""(i) One line: a hundred thousand lines with a known truth, what came of them, and how long a line takes."""

import time

from bot.domain.oneline import read_line
from tests.benchmarks.report import Row, Spread
from tests.order_lines import METHODS, Case, Tally, cases, slipped

LINES, FEW_LINES = 100_000, 2_000
SLIPPED, FEW_SLIPPED = 20_000, 500
SEED = 100_000


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    read_line("500rb bca 1234567890 Budi", METHODS)
    tally, times = Tally(), list[float]()
    for case in cases(SEED, FEW_LINES if quick else LINES):
        times.append(_timed(tally, case))
    torn = Tally()
    for case in slipped(SEED, FEW_SLIPPED if quick else SLIPPED):
        _timed(torn, case)
    count = f"{len(times):,} lines"
    return [
        Row(part="i", measured=f"{count} with a known truth: a wrong part taken without asking", ours=_wrong(tally)),
        Row(
            part="i",
            measured="of those that name destination, number and sum: straight to the review / asked back / refused",
            ours=_shares(tally, "whole"),
            versus="the ordinary ones among them",
            theirs=_shares(tally, "ordinary"),
        ),
        Row(
            part="i",
            measured=f"{FEW_SLIPPED if quick else SLIPPED:,} lines with a mark slipped among the figures: the same",
            ours=_wrong(torn),
        ),
        Row(part="i", measured="reading one line, median / p99", ours=str(Spread.of(times))),
    ]


def _timed(tally: Tally, case: Case) -> float:
    began = time.perf_counter()
    line = read_line(case.text, METHODS)
    took = time.perf_counter() - began
    tally.add(case, line)
    return took


def _wrong(tally: Tally) -> str:
    return f"{len(tally.wrong):,}"


def _shares(tally: Tally, kind: str) -> str:
    counts = [tally.lines[f"{kind} {outcome}"] for outcome in ("understood", "asked", "refused")]
    return " / ".join(f"{count / max(sum(counts), 1):.1%}" for count in counts)
