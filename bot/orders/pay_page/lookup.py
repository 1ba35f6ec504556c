"""Find the orders of pages with shared queries. An open page sends a request every two seconds."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.pay_page.batched_reads import BatchedReads, Pace
from bot.orders.repository import OrderRepository

FRESH_SECONDS = 1.0
"""How long a status is reused: half the time between two requests of a page. Invoices and deposits are always read
again."""

PACE = Pace(batch=200, pause_seconds=0.02, max_waiting=2_000)
"""The pause between two queries is there so that many pages share a query."""

MAX_KEPT = 5_000


@dataclass(frozen=True, slots=True)
class _Known:
    order: Order
    until: float


class Lookup:
    """Find the orders of pages by their tokens. Personal data that isn't needed for a payment isn't kept in memory."""

    def __init__(self, database: Database, *, seconds: Callable[[], float] = time.monotonic, pace: Pace = PACE) -> None:
        self._database = database
        self._seconds = seconds
        self._known: dict[str, _Known] = {}
        self._reads = BatchedReads(self._read, pace)

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
        return await self._reads.find(token)

    async def _read(self, tokens: Collection[str]) -> Mapping[str, Order]:
        async with self._database.reading() as tx:
            found = await OrderRepository(tx).by_page_token(tokens)
        for token in tokens:
            self._known.pop(token, None)
        return {token: self._keep(token, order) for token, order in found.items()}

    def _keep(self, token: str, order: Order) -> Order:
        if len(self._known) >= MAX_KEPT:
            self._known.clear()
        order = replace(order, number="", holder=None, refusal=None)
        self._known[token] = _Known(order, self._seconds() + FRESH_SECONDS)
        return order
