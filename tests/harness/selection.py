"""Pytest hooks that select the tests this machine can run, and report in one line which ones are skipped.

A test needs

- PostgreSQL, if it uses the fixture `postgresql_server` or has the mark `postgresql`,
- Chromium, if it uses the fixture `browser`,
- processes, if it is an end-to-end test, uses Chromium, or has the mark `process`. A test without the mark that starts
  a process fails.

`--quick` runs the tests that need none of them. Of the stories in the process of the tests, which are a third of the
time, it runs the first one of each file.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.e2e.launcher import share_launcher
from tests.harness.machine import BROWSER, MACHINE, POSTGRESQL, Machine, format_skipped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from _pytest.terminal import TerminalReporter

PROCESS: Final = "process"
FIXTURES: Final = {"postgresql_server": POSTGRESQL, "browser": BROWSER}
END_TO_END: Final = Path(__file__).resolve().parents[1] / "e2e"
STORIES: Final = END_TO_END.with_name("chat")
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"})
"""What Python's audit events call the start of a process."""
LEFT_OUT: Final = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests with processes, Chromium or PostgreSQL")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.verbose == 0:
        # Dots and one closing line; `-v` shows more. Failures are shown in full either way.
        config.option.verbose = -1
    machine = Machine(**getattr(config, "workerinput", {}).get("machine", {}))
    config.stash[MACHINE] = machine
    config.stash[LEFT_OUT] = Counter()
    config.add_cleanup(machine.stop)


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
    # Importing tests that are skipped anyway takes seconds.
    return True if config.option.quick and collection_path == END_TO_END else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    needs = {item: needs_of(item) for item in items}
    if config.option.quick:
        items[:] = choose_first_stories(item for item in items if not needs[item])
        return
    if config.option.collectonly:
        return
    machine = config.stash[MACHINE]
    machine.look_for(sorted({kind for kinds in needs.values() for kind in kinds} - {PROCESS}))
    for item in items:
        config.stash[LEFT_OUT].update(sorted(needs[item] & machine.missing.keys())[:1])
    items[:] = [item for item in items if not needs[item] & machine.missing.keys()]


def choose_first_stories(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests, but of each file of stories only the first."""
    files = set[Path]()
    chosen = []
    for item in items:
        if STORIES not in item.path.parents or item.path not in files:
            chosen.append(item)
        files.add(item.path)
    return chosen


def needs_of(item: pytest.Item) -> set[str]:
    """Return what `item` needs beyond Python: of `POSTGRESQL`, `BROWSER` and `PROCESS`."""
    needs = {kind for name, kind in FIXTURES.items() if name in getattr(item, "fixturenames", ())}
    needs |= {kind for kind in (POSTGRESQL, BROWSER, PROCESS) if item.get_closest_marker(kind)}
    if BROWSER in needs or END_TO_END in item.path.parents:
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
