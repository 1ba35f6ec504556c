"""Shared queries: there is one at a time, and it answers all requests since the last one.

So hundreds of open pages use only one database connection, and requests wait instead of adding to its load.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import Final, Generic, TypeVar

Found = TypeVar("Found")
RANDOM: Final = SystemRandom()
"""Nobody can predict which request is next, so nobody can be sure to be served before others."""


class TooMany(Exception):
    """There are too many requests at once, so this one made room for another."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast keys are looked up.

    A query has up to `batch` keys, and `pause_seconds` pass before the next. A single request never waits for the
    pause. The keys of a query are random ones of those that wait. If `max_waiting` keys wait, a random one makes room
    for the next. So a crowd delays a request, and may crowd it out, but can't shut newcomers out.
    """

    batch: int
    pause_seconds: float
    max_waiting: int


class BatchedReads(Generic[Found]):
    """Find values by keys with shared queries."""

    def __init__(self, read: Callable[[Collection[str]], Awaitable[Mapping[str, Found]]], pace: Pace) -> None:
        self._read = read
        self._pace = pace
        self._asked: dict[str, asyncio.Future[Found | None]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key: str) -> Found | None:
        """Return the value with this key, as it is now.

        Raises:
            StoreDown: the database does not answer.
            TooMany: too many requests are waiting, and this one made room for another.
        """
        if key not in self._asked and len(self._asked) >= self._pace.max_waiting:
            self._asked.pop(RANDOM.choice(list(self._asked))).set_exception(TooMany())
        asked = self._asked.setdefault(key, asyncio.get_running_loop().create_future())
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        # Several requests may wait for this result. If one is cancelled, the others must still get it.
        return await asyncio.shield(asked)

    async def _read_all(self) -> None:
        try:
            while self._asked:
                keys = RANDOM.sample(list(self._asked), min(self._pace.batch, len(self._asked)))
                await self._read_batch({key: self._asked.pop(key) for key in keys})
                await asyncio.sleep(self._pace.pause_seconds)
        finally:
            self._reading = None

    async def _read_batch(self, batch: dict[str, asyncio.Future[Found | None]]) -> None:
        try:
            found = await self._read(batch)
        except Exception as error:  # noqa: BLE001  raised to each caller
            for asked in batch.values():
                asked.set_exception(error)
        else:
            for key, asked in batch.items():
                asked.set_result(found.get(key))
        finally:
            # If the query was cancelled, nobody may wait for an answer that never comes.
            for asked in batch.values():
                asked.cancel()
