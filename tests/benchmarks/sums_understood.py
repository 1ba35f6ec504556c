"""(j) Half a million sums with units, fractions and foreign money: how many are read as another sum."""

import asyncio
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from typing import Final

from tests.benchmarks.report import Row
from tests.checkout.amount_lines import SumTally, read_sums, sum_lines

SEEDS: Final = tuple(range(500_001, 500_051))
LINES, FEW_LINES = 10_000, 100
"""Lines for each seed."""


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    return await asyncio.to_thread(_run, FEW_LINES if quick else LINES)


def _run(lines: int) -> list[Row]:
    tally, spent = SumTally(), 0.0
    with ProcessPoolExecutor() as processes:
        for found, seconds in processes.map(_read, SEEDS, repeat(lines)):
            tally.outcomes += found.outcomes
            tally.wrong += found.wrong
            spent += seconds
    return [
        Row(part="j", measured=f"{tally.total:,} sums with a known truth: a wrong part accepted", ours=_wrong(tally)),
        *(
            Row(part="j", measured=f"of those, {kind}: sure / asked back", ours=_shares(tally, kind))
            for kind in sorted({each.partition(": ")[0] for each in tally.outcomes})
        ),
        Row(
            part="j",
            measured="writing a sum and its line, and reading both: processor time",
            ours=f"{spent / tally.total * 1000:.1f} ms",
        ),
    ]


def _read(seed: int, lines: int) -> tuple[SumTally, float]:
    began = time.process_time()
    return read_sums(sum_lines(seed, lines)), time.process_time() - began


def _wrong(tally: SumTally) -> str:
    return "\n".join([f"{len(tally.wrong):,}", *tally.wrong])


def _shares(tally: SumTally, kind: str) -> str:
    sure, asked = (tally.outcomes[f"{kind}: {outcome}"] for outcome in ("sure", "asked"))
    return f"{sure:,} / {asked:,}"
