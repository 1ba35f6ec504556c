"""Statistics for operators, of the bot and of the service, and the orders of a period as a file."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, TypeVar

from bot.core.clock import Clock
from bot.core.date_ranges import Period, Span, get_recent_span
from bot.infra.db.database import Database
from bot.operations import export
from bot.operations.statistics import BotStatistics, OwnTotals
from bot.operations.statistics_repository import StatisticsRepository
from bot.settlement.model import DepositRails, PlatformStats, Settlement, SettlementFailure
from bot.staff.audit import describe_span, record_audit
from bot.staff.audit_terms import AuditTerms, name_as_written
from bot.staff.model import AuditAction
from bot.support.ticket_statistics import measure_tickets
from bot.support.tickets.repository import TicketRepository

T = TypeVar("T")

BATCH_SIZE: Final = 500
"""Orders that are read and formatted at once."""

ORDERS_SUBJECT: Final = "orders:"
"""The subject of an export of orders in the audit log."""

AUDIT_TERMS: Final = AuditTerms(subjects={"orders": name_as_written})
"""How the audit log shows an export of orders."""

MAX_ORDERS: Final = 100_000
"""Orders in one file: about 20 MB. Telegram accepts 50 MB."""


@dataclass(frozen=True, slots=True)
class ServiceStatistics:
    """The service's own statistics and deposit rails. Each is None if the service didn't answer.

    `own` is what we count of the same, None if there is nothing to compare.
    """

    stats: PlatformStats | None
    rails: DepositRails | None
    own: OwnTotals | None = None


@dataclass(frozen=True, slots=True)
class OrderFile:
    """The orders of a period: their number, and the CSV.

    The CSV is None if there are no orders, or too many for one file.
    """

    orders: int
    content: bytes | None


class StatisticsService:
    """Count statistics, and export orders. Exports are recorded in the audit log."""

    def __init__(self, database: Database, settlement: Settlement, clock: Clock) -> None:
        self._database = database
        self._settlement = settlement
        self._clock = clock

    async def count_bot_statistics(self, period: Period, zone: tzinfo) -> tuple[Span, BotStatistics]:
        """Return the statistics of the last day, week or month in this zone, counted at one moment."""
        now = self._clock.now()
        span = get_recent_span(period, now, zone)
        async with self._database.reading() as tx:
            users = await StatisticsRepository(tx).count_users(span.since, span.until)
            subscribers = await StatisticsRepository(tx).count_subscribers(span.since, span.until, now)
            orders = await StatisticsRepository(tx).tally_orders(span.edges)
            tickets = measure_tickets(await TicketRepository(tx).times(span.since, span.until))
        return span, BotStatistics(users=users, subscribers=subscribers, orders=orders, tickets=tickets)

    async def load_service_statistics(self) -> ServiceStatistics:
        """Return the service's statistics and rails, and our totals. What the service doesn't answer is None."""
        stats, rails = await asyncio.gather(
            _or_none(self._settlement.platform_stats()), _or_none(self._settlement.deposit_rails())
        )
        async with self._database.reading() as tx:
            own = await StatisticsRepository(tx).count_totals()
        return ServiceStatistics(stats, rails, own)

    async def export_orders(self, span: Span, by: int) -> OrderFile:
        """Return the orders placed in a period, oldest first, read at one moment. Record who exported them."""
        async with self._database.reading() as tx:
            count = await StatisticsRepository(tx).count_orders(span.since, span.until)
            if not 0 < count <= MAX_ORDERS:
                return OrderFile(count, None)
            content = bytearray(export.header_row())
            found = await StatisticsRepository(tx).order_lines(span.since, span.until, None, BATCH_SIZE)
            while found:
                content += await asyncio.to_thread(export.order_rows, found)
                found = await StatisticsRepository(tx).order_lines(span.since, span.until, found[-1], BATCH_SIZE)
        async with self._database.transaction() as tx:
            await record_audit(
                tx, by, AuditAction.EXPORTED, ORDERS_SUBJECT, self._clock.now(), detail=describe_span(span)
            )
        return OrderFile(count, bytes(content))


async def _or_none(call: Awaitable[T]) -> T | None:
    try:
        return await call
    except SettlementFailure:
        return None
