"""Pytest hooks that start the longest files first, so that no worker is left alone with one at the end of a run.

A whole run saves how long each file took, in pytest's cache. Files that it doesn't know come first if their tests start
processes, because those wait. A shuffled run (`--order-seed`) keeps its order.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.harness.selection import needs_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS: Final = "file_seconds"
KEPT: Final = f"kirim/{SECONDS}"
KNOWN: Final = pytest.StashKey["Mapping[str, float]"]()


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
        items[:] = sort_by_length(items, config.stash[KNOWN])


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


def sort_by_length(items: Sequence[pytest.Item], known: Mapping[str, float]) -> list[pytest.Item]:
    """Return the tests with the longest files first. The tests of a file stay in their order."""
    unknown = {file_of(item.nodeid) for item in items} - known.keys()
    with_processes = {name for item in items if (name := file_of(item.nodeid)) in unknown and needs_of(item)}

    def length(item: pytest.Item) -> float:
        name = file_of(item.nodeid)
        return known.get(name, inf if name in with_processes else 0.0)

    return sorted(items, key=length, reverse=True)


def file_of(nodeid: str) -> str:
    """Return the path of a test's file."""
    return nodeid.partition("::")[0]


def _is_whole(config: pytest.Config) -> bool:
    """Return whether the run has all tests."""
    option, sources = config.option, (pytest.Config.ArgsSource.TESTPATHS, pytest.Config.ArgsSource.INVOCATION_DIR)
    is_part = option.keyword or option.markexpr or option.collectonly or option.quick
    return config.args_source in sources and not is_part
