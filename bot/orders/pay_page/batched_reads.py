"""Shared queries: there is one at a time, and it answers all requests since the last one.

So hundreds of open pages use only one database connection, and requests wait instead of adding to its load.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

Found = TypeVar("Found")


class TooMany(Exception):
    """There are too many requests at once, so this one was rejected."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast keys are looked up.

    A query has up to `batch` keys, and `pause_seconds` pass before the next. A single request never waits for the
    pause. If `max_waiting` keys wait, further ones are rejected.
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
            TooMany: too many requests are waiting.
        """
        if len(self._asked) >= self._pace.max_waiting:
            raise TooMany
        asked = self._asked.setdefault(key, asyncio.get_running_loop().create_future())
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        # Several requests may wait for this result. If one is cancelled, the others must still get it.
        return await asyncio.shield(asked)

    async def _read_all(self) -> None:
        try:
            while self._asked:
                await self._read_batch(
                    {key: self._asked.pop(key) for key in list(islice(self._asked, self._pace.batch))}
                )
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
