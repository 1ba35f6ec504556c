"""`make soak`: users order without pause while replicas fail at random. Prints a table. Fails on a broken promise."""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
from pathlib import Path

import structlog

from tests.harness.databases import new_database
from tests.harness.postgresql import find
from tests.replicas.soak import describe, find_broken, soak

MOST_SHOWN = 50


def main() -> int:
    """Run the soak. Return 1 if a promise was broken."""
    given = _arguments()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="kirim-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    sys.stderr.write(f"The logs of the replicas are in {folder}. The seed is {given.seed}.\n")
    server = find()
    try:
        with new_database(server.url) as database:
            result = asyncio.run(
                soak(database, folder, minutes=given.minutes, replicas=given.replicas, seed=given.seed)
            )
    finally:
        server.stop()
    (folder / "failures.txt").write_text("".join(f"{change}\n" for change in result.chaos.journal))
    sys.stdout.write(f"{describe(result)}\n")
    broken = find_broken(result)
    for line in broken[:MOST_SHOWN]:
        sys.stdout.write(f"BROKEN {line}\n")
    sys.stdout.write(f"{len(broken)} promises were broken.\n" if broken else "Every promise was kept.\n")
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.replicas", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long users order (10 by default)")
    parser.add_argument("--replicas", type=int, default=3, help="how many replicas run (3 by default)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="for the same failures again")
    parser.add_argument("--folder", type=Path, help="where the logs are kept")
    return parser.parse_args()


if __name__ == "__main__":
    # Only the results and errors are printed.
    logging.basicConfig(level=logging.ERROR)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    sys.exit(main())
