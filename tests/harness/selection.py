"""Pytest hooks that select the tests this machine can run, and report in one line which ones are skipped.

A test needs

- PostgreSQL, if it uses the fixture `postgresql_server` or has the mark `postgresql`,
- Chromium, if it uses the fixture `browser`,
- processes, if it is an end-to-end test, uses Chromium, or has the mark `process`.

`--quick` runs the tests that need none of them, without the stories of `tests/chat` and without the slow tests that
`slow_tests.txt` names. Of a test with many cases it runs three.

`make quick ARGS=--find-slow` runs all cases, slow ones too, and writes that file.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio

from bot.sandbox.postgresql import NoServer
from tests.e2e.launcher import share_launcher
from tests.harness import chromium, postgresql

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from _pytest.terminal import TerminalReporter
    from playwright.async_api import Browser

POSTGRESQL: Final = "postgresql"
BROWSER: Final = "browser"
PROCESS: Final = "process"
FIXTURES: Final = {"postgresql_server": POSTGRESQL, "browser": BROWSER}
END_TO_END: Final = Path(__file__).resolve().parents[1] / "e2e"
STORIES: Final = END_TO_END.with_name("chat")
SLOW_TESTS: Final = Path(__file__).with_name("slow_tests.txt")
SLOW_SECONDS: Final = 0.3
"""Of the longest of a test's cases."""


@dataclass
class Machine:
    """The programs for this run, by kind: where each one is, or what to say if it is missing.

    A program is looked for when the first test needs it. Under pytest-xdist, the controlling process looks and passes
    the result to its workers.
    """

    found: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    stop: Callable[[], None] = lambda: None

    def look_for(self, kinds: Iterable[str]) -> None:
        """Find or start the programs of `kinds` that weren't looked for yet."""
        for kind in set(kinds) - self.found.keys() - self.missing.keys():
            try:
                if kind == BROWSER:
                    self.found[kind] = chromium.find()
                else:
                    self.found[kind], self.stop = postgresql.find()
            except chromium.NoChromium as error:
                self.missing[kind] = f"Chromium {error}. {chromium.hint()}"
            except NoServer as error:
                self.missing[kind] = f"PostgreSQL {error}. {postgresql.hint()}"


MACHINE: Final = pytest.StashKey[Machine]()


def get_program(config: pytest.Config, kind: str) -> str:
    """Return where a program is. Fail the test if it isn't marked as needing the program."""
    machine = config.stash[MACHINE]
    if kind not in machine.found:
        pytest.fail(f"this test uses {kind}, but isn't marked with it: add @pytest.mark.{kind}")
    return machine.found[kind]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """One Chromium for all tests of a process, because its start takes longer than most tests.

    Its tests use the session's event loop. Each opens its own context, which is like a new browser.
    """
    async with chromium.chromium(get_program(request.config, BROWSER)) as made:
        yield made


@pytest.fixture(scope="session")
def postgresql_server(request: pytest.FixtureRequest) -> str:
    """The URL of a PostgreSQL server on which tests may create databases."""
    return get_program(request.config, POSTGRESQL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out slow tests, processes, Chromium and PostgreSQL")
    parser.addoption("--find-slow", action="store_true", help="with --quick: find the slow tests, and save their names")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.verbose == 0:
        # Dots and one closing line; `-v` shows more. Failures are shown in full either way.
        config.option.verbose = -1
    machine = Machine(**getattr(config, "workerinput", {}).get("machine", {}))
    config.stash[MACHINE] = machine
    config.add_cleanup(lambda: machine.stop())  # noqa: PLW0108  it is set when a server was started


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
    elif not config.option.collectonly:
        machine = config.stash[MACHINE]
        machine.look_for({kind for kinds in needs.values() for kind in kinds} - {PROCESS})
        for item in items:
            for kind in sorted(needs[item] & machine.missing.keys()):
                item.add_marker(pytest.mark.skip(machine.missing[kind]))


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
    needs |= {mark.name for mark in item.iter_markers()} & {POSTGRESQL, BROWSER, PROCESS}
    if BROWSER in needs or item.path.is_relative_to(END_TO_END):
        needs.add(PROCESS)
    return needs


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    left_out = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for why, count in left_out.items():
        terminalreporter.write_line(f"{count} left out: {why.removeprefix('Skipped: ')}")
    if config.option.find_slow:
        called = [each for each in terminalreporter.stats.get("passed", []) if each.when == "call"]
        slow = {name_of(each.nodeid) for each in called if each.duration > SLOW_SECONDS}
        SLOW_TESTS.write_text("".join(f"{name}\n" for name in sorted(slow)), encoding="utf-8")


def pytest_sessionfinish(session: pytest.Session) -> None:
    # A CI machine must have all programs.
    if os.environ.get("CI") and session.config.stash[MACHINE].missing and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
