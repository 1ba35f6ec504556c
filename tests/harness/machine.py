"""What the tests need beyond Python, and what of it this machine has: a PostgreSQL server and a Chromium."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from tests.harness import chromium, postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

POSTGRESQL: Final = "postgresql"
BROWSER: Final = "browser"
TITLES: Final = {POSTGRESQL: "PostgreSQL", BROWSER: "Chromium"}
HINTS: Final = {POSTGRESQL: postgresql.hint, BROWSER: chromium.hint}


@dataclass
class Machine:
    """What was found for this run, by kind: where it is, or why it can't be had.

    Nothing is looked for until the first test needs it. Under pytest-xdist the controlling process looks, and hands
    the result to its workers.
    """

    found: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    stops: list[Callable[[], None]] = field(default_factory=list)

    def look_for(self, kinds: Iterable[str]) -> None:
        """Find or start each of `kinds` that wasn't looked for yet."""
        for kind in kinds:
            if kind in self.found or kind in self.missing:
                continue
            try:
                self.found[kind] = self._find(kind)
            except (postgresql.NoServer, chromium.NoChromium) as error:
                self.missing[kind] = str(error)

    def _find(self, kind: str) -> str:
        if kind == BROWSER:
            return chromium.find()
        server = postgresql.find()
        self.stops.append(server.stop)
        return server.url

    def stop(self) -> None:
        """Stop what was started for this run."""
        while self.stops:
            self.stops.pop()()


MACHINE = pytest.StashKey[Machine]()


def provided(config: pytest.Config, kind: str) -> str:
    """Return where to find what a test needs; its fixture must be a reason to leave the test out elsewhere."""
    machine = config.stash[MACHINE]
    if kind not in machine.found:
        pytest.fail(f"this test uses {TITLES[kind]}, but isn't marked with it: add @pytest.mark.{kind}")
    return machine.found[kind]


def left_out(kind: str, why: str, count: int) -> str:
    """Return the line about tests that this machine can't run."""
    return f"{TITLES[kind]} {why}: {count} {'test' if count == 1 else 'tests'} left out. {HINTS[kind]()}"
