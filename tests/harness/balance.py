"""Pytest hooks that order the files of tests, so that neither a core nor a worker is idle.

Tests with processes, and stories, mostly wait. If all workers had them at the same time, the cores would be idle, so
they are spread over the run, between those that only work. The longest come first, so that no worker is left alone with
one at the end.

A whole run saves how long each file took, in pytest's cache. Without that, all count the same. A shuffled run
(`--order-seed`) keeps its order.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.harness.selection import PROCESS, STORIES, needs_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS: Final = "file_seconds"
KEPT: Final = f"kirim/{SECONDS}"
KNOWN: Final = pytest.StashKey["Mapping[str, float]"]()
WAITING_UNTIL: Final = 0.85
"""The part of a run after which no file that waits is started."""
UNKNOWN_SECONDS: Final = 1.0


def pytest_configure(config: pytest.Config) -> None:
    cache = getattr(config, "cache", None)
    given = getattr(config, "workerinput", {}).get(SECONDS)
    config.stash[KNOWN] = given if given is not None else cache.get(KEPT, {}) if cache else {}
    if given is None and cache and _is_whole(config):
        config.pluginmanager.register(Stopwatch(cache))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    # All workers must collect the tests in the same order.
    node.workerinput[SECONDS] = node.config.stash[KNOWN]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "order_seed", None) is None:
        items[:] = spread(items, config.stash[KNOWN])


class Stopwatch:
    """Measures how long each file takes, and saves it at the end of the run."""

    def __init__(self, cache: pytest.Cache) -> None:
        self._cache = cache
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a test, or its set-up or tear-down."""
        self._seconds[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Save the lengths, unless the run was stopped."""
        if exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            self._cache.set(KEPT, {name: round(seconds, 2) for name, seconds in self._seconds.items()})


def spread(items: Sequence[pytest.Item], known: Mapping[str, float]) -> list[pytest.Item]:
    """Return the tests with those that wait between those that work. The tests of a file stay in their order."""
    files = {file_of(item.nodeid) for item in items}
    waiting = {file_of(item.nodeid) for item in items if STORIES in item.path.parents or PROCESS in needs_of(item)}
    begins = _begins(files - waiting, known) | {
        name: WAITING_UNTIL * begin for name, begin in _begins(waiting, known).items()
    }
    order = sorted(files, key=lambda name: (begins[name], name not in waiting, name))
    rank = {name: number for number, name in enumerate(order)}
    return sorted(items, key=lambda item: rank[file_of(item.nodeid)])


def _begins(files: set[str], known: Mapping[str, float]) -> dict[str, float]:
    """Return when each file begins if one worker runs them, the longest first: from 0 to 1, the end of the last one."""

    def length(name: str) -> float:
        return known.get(name, UNKNOWN_SECONDS)

    ordered = sorted(files, key=lambda name: (-length(name), name))
    total = sum(map(length, ordered)) or 1
    return {
        name: begin / total for name, begin in zip(ordered, accumulate(map(length, ordered), initial=0.0), strict=False)
    }


def file_of(nodeid: str) -> str:
    """Return the path of a test's file."""
    return nodeid.partition("::")[0]


def _is_whole(config: pytest.Config) -> bool:
    """Return whether the run has all tests."""
    option, sources = config.option, (pytest.Config.ArgsSource.TESTPATHS, pytest.Config.ArgsSource.INVOCATION_DIR)
    is_part = option.keyword or option.markexpr or option.collectonly or option.quick
    return config.args_source in sources and not is_part
