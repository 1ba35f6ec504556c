"""Figures for operators: the service's own, the bot's own over a time, and the orders of a time as a file."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, TypeVar

from bot.core.clock import Clock
from bot.core.date_ranges import Period, Span, last
from bot.infra.db.database import Database
from bot.operations import export as exporting
from bot.operations.statistics import OwnFigures
from bot.operations.statistics_repository import StatisticsRepository
from bot.settlement.model import DepositRails, PlatformStats, Settlement, SettlementFailure
from bot.staff.audit import of_time, record_audit
from bot.staff.model import AuditAction
from bot.support.ticket_statistics import measure_tickets
from bot.support.tickets.repository import TicketRepository

T = TypeVar("T")

AT_ONCE: Final = 500
"""Orders that are read and written down in one go."""

ORDERS: Final = "orders:"
"""The subject of an export of orders in the audit trail."""

MOST_ORDERS: Final = 100_000
"""In one file: about 20 MB, of the 50 that Telegram takes."""


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """What the service told of itself; None where it told nothing."""

    stats: PlatformStats | None
    rails: DepositRails | None


@dataclass(frozen=True, slots=True)
class Export:
    """The orders of a time: how many, and the file; no file where they are none, or too many for one."""

    orders: int
    content: bytes | None


class Figures:
    """Counts and hands out; all that it writes is who was handed what."""

    def __init__(self, store: Database, settlement: Settlement, clock: Clock) -> None:
        self._store = store
        self._settlement = settlement
        self._clock = clock

    async def own(self, period: Period, zone: tzinfo) -> tuple[Span, OwnFigures]:
        """The bot's own figures of the last day, week or month in this zone, all as of one moment."""
        now = self._clock.now()
        span = last(period, now, zone)
        async with self._store.reading() as tx:
            people = await StatisticsRepository(tx).people(span.since, span.until)
            subscribers = await StatisticsRepository(tx).subscribers(span.since, span.until, now)
            orders = await StatisticsRepository(tx).orders(span.edges)
            tickets = measure_tickets(await TicketRepository(tx).times(span.since, span.until))
        return span, OwnFigures(people=people, subscribers=subscribers, orders=orders, tickets=tickets)

    async def service(self) -> ServiceFigures:
        """The service's own figures and rails, as far as it tells them."""
        stats, rails = await asyncio.gather(
            _or_none(self._settlement.platform_stats()), _or_none(self._settlement.deposit_rails())
        )
        return ServiceFigures(stats, rails)

    async def export(self, span: Span, by: int) -> Export:
        """The orders placed within a time, oldest first, as of one moment; it is written down who takes them along."""
        async with self._store.reading() as tx:
            count = await StatisticsRepository(tx).count_orders(span.since, span.until)
            if not 0 < count <= MOST_ORDERS:
                return Export(count, None)
            content = bytearray(exporting.header())
            found = await StatisticsRepository(tx).lines(span.since, span.until, None, AT_ONCE)
            while found:
                content += await asyncio.to_thread(exporting.rows, found)
                found = await StatisticsRepository(tx).lines(span.since, span.until, found[-1], AT_ONCE)
        async with self._store.transaction() as tx:
            await record_audit(tx, by, AuditAction.EXPORTED, ORDERS, self._clock.now(), detail=of_time(span))
        return Export(count, bytes(content))


async def _or_none(call: Awaitable[T]) -> T | None:
    try:
        return await call
    except SettlementFailure:
        return None
