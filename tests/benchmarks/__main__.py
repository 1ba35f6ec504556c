"""`make bench`: measures, compares and prints one Markdown table. Benchmarks can't fail."""

import argparse
import asyncio
import gc
import importlib
import logging
import sys
import time
from pathlib import Path

import structlog

from tests.benchmarks import report

BENCHMARKS = {
    "order": "order_cost",
    "people": "people_at_once",
    "bot": "whole_bot",
    "start": "start_and_memory",
    "broadcast": "broadcast",
    "walks": "walks",
    "lines": "lines_understood",
    "sums": "sums_understood",
}


async def main(names: list[str], *, quick: bool, before: str | None = None) -> list[report.Row]:
    """Run the benchmarks with these names. Return their rows. `before` is the commit to compare with."""
    rows: list[report.Row] = []
    for name in names:
        began = time.perf_counter()
        _say(f"{name} …")
        module = importlib.import_module(f"tests.benchmarks.{BENCHMARKS[name]}")
        more = {"before": before} if before and name in ("order", "walks") else {}
        found: list[report.Row] = await module.run(quick=quick, **more)
        rows += found
        _say(f"{name}: {time.perf_counter() - began:.0f} s\n{report.table(found)}")
        gc.collect()
    return rows


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(BENCHMARKS)} (all by default)")
    parser.add_argument("--quick", action="store_true", help="a short check that everything runs, not a measurement")
    parser.add_argument("--before", metavar="COMMIT", help='the commit that "order" and "walks" are compared with')
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return arguments


if __name__ == "__main__":
    # Only the results and errors are printed.
    logging.basicConfig(level=logging.ERROR)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    given = _arguments()
    where = report.surroundings()
    made = asyncio.run(main(given.names or list(BENCHMARKS), quick=given.quick, before=given.before))
    text = f"{report.table(made)}\n{where}{' A quick run: it says little.' if given.quick else ''}\n"
    sys.stdout.write(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
