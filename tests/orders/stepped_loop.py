"""An event loop that a test moves step by step.

`run_until_idle` runs all tasks that can run now. Time passes only when the test moves its clock. So each run of a test
executes its tasks in the same order. A database has to answer within the step, too: see `tests/sqlite_in_the_loop.py`.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.settlement.fake_settlement import BEGINNING, MovedClock

T = TypeVar("T")
QUIET_ROUNDS = 3
"""The loop is idle after so many rounds without a ready task. A timer that is due needs one round to become ready."""


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop whose time is a test's clock."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self._clock = clock
        # A test checks the tasks that matter to it. Errors of a killed process's tasks don't matter.
        self.set_exception_handler(lambda *_: None)
        self.steps = 0
        """How often tasks ran that can change something. What a test has read stays valid until the next step."""

    def time(self) -> float:
        return (self._clock.now() - BEGINNING).total_seconds()

    def run_until_idle(self) -> None:
        """Run until every task waits for the test."""
        self.steps += 1
        self.run_until_complete(self._idle())

    def run_reading(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work`, which only reads, and return its result."""
        return self.run_until_complete(work)

    async def _idle(self) -> None:
        quiet = 0
        while quiet < QUIET_ROUNDS:
            quiet = 0 if self._ready else quiet + 1  # type: ignore[attr-defined]  # asyncio's own queue
            await asyncio.sleep(0)
