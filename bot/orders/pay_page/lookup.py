"""Find the orders of pages with shared queries, and draw each picture once.

There is one query at a time, and it answers all requests since the last one. So hundreds of open pages, each with a
request every two seconds, use only one database connection. Requests wait instead of adding to its load.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from random import SystemRandom
from typing import Final, Generic, TypeVar

from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.repository import OrderRepository

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
        order = replace(order, number="", holder=None, refusal=None, contact=None, answer=None)
        self._known[token] = _Known(order, self._seconds() + FRESH_SECONDS)
        return order


MAX_QR_CODES: Final = 256
"""Each has 2 to 3 kB."""

MAX_RECEIPTS: Final = 32
"""Each has about 60 kB. The receipts of chats are drawn in the same thread and must not wait for pages."""

Content = TypeVar("Content", bound=Hashable)


class KeptPictures(Generic[Content]):
    """Draw each picture once, as long as it is kept. It is known by what it shows, so it is never outdated."""

    def __init__(self, draw: Callable[[Content], Awaitable[bytes]], limit: int) -> None:
        self._draw = draw
        self._limit = limit
        self._drawn: OrderedDict[Content, asyncio.Task[bytes]] = OrderedDict()

    async def get_png(self, content: Content) -> bytes:
        """Return the picture of this content. Raises what `draw` raises."""
        drawing = self._drawn.get(content)
        if drawing is None or drawing.cancelled():
            drawing = self._drawn[content] = asyncio.create_task(self._draw_now(content))
        self._drawn.move_to_end(content)
        while len(self._drawn) > self._limit:
            self._drawn.popitem(last=False)
        return await asyncio.shield(drawing)

    async def _draw_now(self, content: Content) -> bytes:
        return await self._draw(content)
