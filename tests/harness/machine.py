"""The programs that tests need and this machine has or lacks: a PostgreSQL server and a Chromium."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from bot.sandbox.postgresql import NoServer
from tests.harness import chromium, postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

POSTGRESQL: Final = "postgresql"
BROWSER: Final = "browser"
TITLES: Final = {POSTGRESQL: "PostgreSQL", BROWSER: "Chromium"}
HINTS: Final = {POSTGRESQL: postgresql.hint, BROWSER: chromium.hint}


@dataclass
class Machine:
    """The programs for this run, by kind: where each one is, or why it is missing.

    A program is looked for when the first test needs it. Under pytest-xdist, the controlling process looks and passes
    the result to its workers.
    """

    found: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    stops: list[Callable[[], None]] = field(default_factory=list)

    def look_for(self, kinds: Iterable[str]) -> None:
        """Find or start the programs of `kinds` that weren't looked for yet."""
        for kind in kinds:
            if kind in self.found or kind in self.missing:
                continue
            try:
                self.found[kind] = self._find(kind)
            except (NoServer, chromium.NoChromium) as error:
                self.missing[kind] = str(error)

    def _find(self, kind: str) -> str:
        if kind == BROWSER:
            return chromium.find()
        server = postgresql.find()
        self.stops.append(server.stop)
        return server.url

    def stop(self) -> None:
        """Stop the programs that were started for this run."""
        while self.stops:
            self.stops.pop()()


MACHINE = pytest.StashKey[Machine]()


def get_program(config: pytest.Config, kind: str) -> str:
    """Return where a program is. Fail the test if it isn't marked as needing the program."""
    machine = config.stash[MACHINE]
    if kind not in machine.found:
        pytest.fail(f"this test uses {TITLES[kind]}, but isn't marked with it: add @pytest.mark.{kind}")
    return machine.found[kind]


def format_skipped(kind: str, why: str, count: int) -> str:
    """Return the line about tests that this machine can't run."""
    return f"{TITLES[kind]} {why}: {count} {'test' if count == 1 else 'tests'} left out. {HINTS[kind]()}"
