"""Find the orders of pages without a query for each request: requests that arrive meanwhile share the next query.

A page asks every two seconds. There is one query at a time, and it answers all requests since the last one. So 500
pages keep only one of the database's connections busy.
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
"""How long a status may be shown as it was read: half as long as a page waits between two requests. What an order is
paid with is only shown as it is now."""

PAUSE_SECONDS = 0.02
"""The pause between two queries. A single page never waits for it, and of many pages most share a query."""

BATCH = 200
MOST_WAITING = 2_000
MOST_KEPT = 5_000


class TooMany(Exception):
    """More pages are requested at once than can be looked up. Later requests are rejected."""


@dataclass(frozen=True, slots=True)
class _Known:
    order: Order
    until: float


class Lookup:
    """Find the orders of pages by their tokens. What nobody may see on a page isn't kept here."""

    def __init__(self, store: Database, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._store = store
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
            TooMany: see there.
        """
        if len(self._asked) >= MOST_WAITING:
            raise TooMany
        asked = self._asked.setdefault(token, asyncio.get_running_loop().create_future())
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        # Several requests may wait for it. One that is cancelled must not cancel it for the others.
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
            async with self._store.reading() as tx:
                found = await OrderRepository(tx).by_page_token(batch)
        except Exception as error:  # noqa: BLE001  those who asked raise it
            for asked in batch.values():
                asked.set_exception(error)
        else:
            for token, asked in batch.items():
                asked.set_result(self._keep(token, found.get(token)))
        finally:
            # If something has ended the query, nobody may wait for an answer that never comes.
            for asked in batch.values():
                asked.cancel()

    def _keep(self, token: str, order: Order | None) -> Order | None:
        if order is None:
            self._known.pop(token, None)
            return None
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        order = replace(order, number="", holder=None, refusal=None)
        self._known[token] = _Known(order, self._seconds() + FRESH_SECONDS)
        return order
