"""An event loop that a test moves step by step.

Nothing happens by itself: `idle` runs what can run now, and time passes only when the test moves its clock. So any
number of tasks interleave in one order alone, and each run of a test is the same. A store has to answer within the
step, too: see `tests/sqlite_in_the_loop.py`.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.settlement.fake_settlement import BEGINNING, MovedClock

T = TypeVar("T")
QUIET_ROUNDS = 3
"""After so many rounds in which nothing else was ready, nothing is: a timer that is due takes one to be seen."""


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop whose time is a test's clock."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self._clock = clock
        # A test looks at the tasks it cares for; what dies with its process is nobody's.
        self.set_exception_handler(lambda *_: None)
        self.moved = 0
        """How often tasks were run that could change something: what was read stays true as long as it is the same."""

    def time(self) -> float:
        return (self._clock.now() - BEGINNING).total_seconds()

    def idle(self) -> None:
        """Run until every task waits for something that only the test can bring about."""
        self.moved += 1
        self.run_until_complete(self._idle())

    def does(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work`, which only reads, to its end."""
        return self.run_until_complete(work)

    async def _idle(self) -> None:
        quiet = 0
        while quiet < QUIET_ROUNDS:
            quiet = 0 if self._ready else quiet + 1  # type: ignore[attr-defined]  # asyncio's own queue
            await asyncio.sleep(0)
