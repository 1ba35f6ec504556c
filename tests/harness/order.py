"""A pytest option that runs the tests in another order, to show that they don't depend on each other.

`--order-seed 7` shuffles the files, and the tests within each file; the same number gives the same order again. A file
stays in one piece, because its tests may share a fixture. Without a number, one is chosen and shown; under pytest-xdist
the controller chooses for all workers, which must collect the tests in the same order.
"""

from __future__ import annotations

import secrets
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST: Final = 10_000
SEED: Final = "order_seed"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--order-seed",
        type=int,
        nargs="?",
        const=secrets.randbelow(MOST),
        metavar="NUMBER",
        help="shuffle files, and tests within files, by this number or by one that is chosen",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.option.order_seed = getattr(config, "workerinput", {}).get(SEED, config.option.order_seed)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[SEED] = node.config.option.order_seed


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.option.order_seed
    return None if seed is None else f"order: shuffled, again with --order-seed {seed}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.order_seed is not None:
        items[:] = shuffled(items, config.option.order_seed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    header = pytest_report_header(terminalreporter.config)
    if header is not None and terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", []):
        terminalreporter.write_line(header)


def shuffled(items: Sequence[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests in another order, each file in one piece."""
    chance = Random(seed)
    files = [list(tests) for _, tests in groupby(sorted(items, key=lambda item: item.path), key=lambda item: item.path)]
    chance.shuffle(files)
    for tests in files:
        chance.shuffle(tests)
    return [test for tests in files for test in tests]
