"""An event loop that a test moves step by step, and SQLite that answers within the step.

Nothing happens by itself: `idle` runs what can run now, and time passes only when the test moves its clock. So any
number of tasks interleave in one order alone, and each run of a test is the same.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar
from unittest.mock import patch

from bot.store import engine
from bot.store.one_trip import OneTripConnection
from tests.unit.fake_settlement import BEGINNING, MovedClock

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


class InlineConnection(OneTripConnection):
    """The store's connection without its thread: a transaction is over within one step."""

    def __await__(self) -> Generator[Any, None, Self]:
        return self._at_once().__await__()

    async def _at_once(self) -> Self:
        self._connection = self._connector()
        return self

    async def _execute(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return fn(*args, **kwargs)

    async def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def connect(database: str, **options: Any) -> InlineConnection:
    return InlineConnection(lambda: sqlite3.connect(database, **options))


@contextmanager
def inline_sqlite() -> Iterator[None]:
    """Stores that are made in this block answer within the step."""
    with patch.object(engine, "connect", connect):
        yield
