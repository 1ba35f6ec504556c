"""Pytest hooks that select the tests this machine can run, and report in one line which ones are skipped.

A test needs

- PostgreSQL, if it uses the fixture `postgresql_server` or has the mark `postgresql`,
- Chromium, if it uses the fixture `browser`,
- processes, if it is an end-to-end test, uses Chromium, or has the mark `process`. A test without the mark that starts
  a process fails.

`--quick` runs the tests that need none of them, without the stories of `tests/chat` and without the slow tests that
`slow_tests.txt` names. Of a test with many cases it runs three.

`make quick ARGS=--find-slow` measures all cases, slow ones too, and writes that file.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.e2e.launcher import share_launcher
from tests.harness.machine import BROWSER, MACHINE, POSTGRESQL, Machine, format_skipped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from _pytest.terminal import TerminalReporter

PROCESS: Final = "process"
KINDS: Final = frozenset({POSTGRESQL, BROWSER, PROCESS})
FIXTURES: Final = {"postgresql_server": POSTGRESQL, "browser": BROWSER}
END_TO_END: Final = Path(__file__).resolve().parents[1] / "e2e"
IN_END_TO_END: Final = f"{END_TO_END}{os.sep}"
STORIES: Final = END_TO_END.with_name("chat")
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"})
"""What Python's audit events call the start of a process."""
LEFT_OUT: Final = pytest.StashKey[Counter[str]]()
SLOW_TESTS: Final = Path(__file__).with_name("slow_tests.txt")
SLOW_SECONDS: Final = 0.05
"""Of processor time, for the longest of a test's cases."""
LONG_SECONDS: Final = 0.3
"""With its waits."""
CPU_SECONDS: Final = "cpu_seconds"
"""The user property of a report that says how much processor time its test took."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out slow tests, processes, Chromium and PostgreSQL")
    parser.addoption("--find-slow", action="store_true", help="with --quick: find the slow tests, and save their names")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.verbose == 0:
        # Dots and one closing line; `-v` shows more. Failures are shown in full either way.
        config.option.verbose = -1
    machine = Machine(**getattr(config, "workerinput", {}).get("machine", {}))
    config.stash[MACHINE] = machine
    config.stash[LEFT_OUT] = Counter()
    config.add_cleanup(machine.stop)
    if config.option.find_slow:
        config.pluginmanager.register(ProcessorClock())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Under pytest-xdist this process starts the workers next, and collects no tests itself."""
    config = session.config
    if config.pluginmanager.hasplugin("dsession") and not config.option.quick and not config.option.collectonly:
        config.stash[MACHINE].look_for((POSTGRESQL, BROWSER))
        config.add_cleanup(share_launcher())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    machine = node.config.stash[MACHINE]
    node.workerinput["machine"] = {"found": machine.found, "missing": machine.missing}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # Importing tests that are skipped anyway takes seconds. Whoever names these folders gets them.
    return True if config.option.quick and collection_path in {END_TO_END, STORIES} else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    needs = {item: needs_of(item) for item in items}
    if config.option.quick:
        items[:] = [item for item in items if not needs[item]]
        if not config.option.find_slow:
            items[:] = choose_quick(items, frozenset(SLOW_TESTS.read_text(encoding="utf-8").split()))
        return
    if config.option.collectonly:
        return
    machine = config.stash[MACHINE]
    machine.look_for(sorted({kind for kinds in needs.values() for kind in kinds} - {PROCESS}))
    for item in items:
        config.stash[LEFT_OUT].update(sorted(needs[item] & machine.missing.keys())[:1])
    items[:] = [item for item in items if not needs[item] & machine.missing.keys()]


def choose_quick(items: Iterable[pytest.Item], slow: frozenset[str]) -> list[pytest.Item]:
    """Return the tests that aren't slow, with the first, the middle and the last of their cases."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        cases[name_of(item.nodeid)].append(item)
    return [
        case
        for name, those in cases.items()
        if name not in slow
        for number, case in enumerate(those)
        if number in {0, len(those) // 2, len(those) - 1}
    ]


def name_of(nodeid: str) -> str:
    """Return the name of a test without that of its case."""
    return nodeid.partition("[")[0]


def needs_of(item: pytest.Item) -> set[str]:
    """Return what `item` needs beyond Python: of `POSTGRESQL`, `BROWSER` and `PROCESS`."""
    needs = {kind for name, kind in FIXTURES.items() if name in getattr(item, "fixturenames", ())}
    needs |= {mark.name for mark in item.iter_markers()} & KINDS
    if BROWSER in needs or str(item.path).startswith(IN_END_TO_END):
        needs.add(PROCESS)
    return needs


class ProcessGuard:
    """Fails tests that start a process without the mark, since `--quick` relies on it."""

    def __init__(self) -> None:
        self.forbidden_for = ""
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: tuple[object, ...]) -> None:
        if self.forbidden_for and event in STARTS:
            raise RuntimeError(f"{self.forbidden_for} starts a process: mark it with @pytest.mark.process")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.forbidden_for = "" if PROCESS in needs_of(item) else item.nodeid
        try:
            return (yield)
        finally:
            self.forbidden_for = ""


class ProcessorClock:
    """Measures how long each test works and waits, and saves the names of the slow ones at the end."""

    def __init__(self) -> None:
        self._slow = set[str]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        began = time.process_time()
        try:
            return (yield)
        finally:
            item.user_properties.append((CPU_SECONDS, time.process_time() - began))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worked = [seconds for name, seconds in report.user_properties if name == CPU_SECONDS]
        if report.duration > LONG_SECONDS or any(isinstance(each, float) and each > SLOW_SECONDS for each in worked):
            self._slow.add(name_of(report.nodeid))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            SLOW_TESTS.write_text("".join(f"{name}\n" for name in sorted(self._slow)), encoding="utf-8")


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.pluginmanager.register(ProcessGuard())


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    counted = config.stash[LEFT_OUT]
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output["format_skipped"] = dict(counted)
    elif counted and os.environ.get("CI") and session.exitstatus == pytest.ExitCode.OK:
        # A CI machine must have all programs.
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    # Each worker collects all tests, so each skips the same ones.
    counted = node.config.stash[LEFT_OUT]
    for kind, count in getattr(node, "workeroutput", {}).get("format_skipped", {}).items():
        counted[kind] = max(counted[kind], count)


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    for kind, count in config.stash[LEFT_OUT].items():
        terminalreporter.write_line(format_skipped(kind, config.stash[MACHINE].missing[kind], count))
