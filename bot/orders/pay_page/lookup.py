"""Find the orders of pages with shared queries.

An open page sends a request every two seconds. There is one query at a time, and it answers all requests since the
last one. So 500 pages use only one database connection.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.repository import OrderRepository

FRESH_SECONDS = 1.0
"""How long a status is reused: half the time between two requests of a page. Invoices and deposits are always read
again."""

PAUSE_SECONDS = 0.02
"""The pause between two queries, so that many pages share a query. A single page never waits for it."""

BATCH = 200
MAX_WAITING = 2_000
MAX_KEPT = 5_000


class TooMany(Exception):
    """There are too many requests at once, so this one was rejected."""


@dataclass(frozen=True, slots=True)
class _Known:
    order: Order
    until: float


class Lookup:
    """Find the orders of pages by their tokens. Personal data that pages don't show isn't kept in memory."""

    def __init__(self, database: Database, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._seconds = seconds
        self._known: dict[str, _Known] = {}
        self._asked: dict[str, asyncio.Future[Order | None]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def find_recent(self, token: str) -> Order | None:
        """Return the order whose page has this token, as it was read within the last second. Raises as `find` does."""
        known = self._known.get(token)
        return known.order if known is not None and self._seconds() < known.until else await self.find(token)

    async def find(self, token: str) -> Order | None:
        """Return the order whose page has this token, as it is now, without its recipient.

        Raises:
            StoreDown: the database does not answer.
            TooMany: too many requests are waiting.
        """
        if len(self._asked) >= MAX_WAITING:
            raise TooMany
        asked = self._asked.setdefault(token, asyncio.get_running_loop().create_future())
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        # Several requests may wait for this result. If one is cancelled, the others must still get it.
        return await asyncio.shield(asked)

    async def _read(self) -> None:
        try:
            while self._asked:
                await self._read_batch({token: self._asked.pop(token) for token in list(islice(self._asked, BATCH))})
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._reading = None

    async def _read_batch(self, batch: dict[str, asyncio.Future[Order | None]]) -> None:
        try:
            async with self._database.reading() as tx:
                found = await OrderRepository(tx).by_page_token(batch)
        except Exception as error:  # noqa: BLE001  raised to each caller
            for asked in batch.values():
                asked.set_exception(error)
        else:
            for token, asked in batch.items():
                asked.set_result(self._keep(token, found.get(token)))
        finally:
            # If the query was cancelled, nobody may wait for an answer that never comes.
            for asked in batch.values():
                asked.cancel()

    def _keep(self, token: str, order: Order | None) -> Order | None:
        if order is None:
            self._known.pop(token, None)
            return None
        if len(self._known) >= MAX_KEPT:
            self._known.clear()
        order = replace(order, number="", holder=None, refusal=None)
        self._known[token] = _Known(order, self._seconds() + FRESH_SECONDS)
        return order
