"""Statistics for operators, of the bot and of the service, and the orders of a period as a file.

The file is CSV: one order in each row, without personal data. Times are UTC in ISO 8601, amounts are whole rupiah and
sats, and rates are decimal text.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, TypeVar

from bot.core import csv
from bot.core.clock import Clock
from bot.core.csv import CsvFile
from bot.core.date_ranges import Period, Span, get_recent_span
from bot.infra.db.database import Database
from bot.operations.model import BotStatistics, OrderLine, OwnTotals
from bot.operations.repository import StatisticsRepository
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import DepositRails, PlatformStats
from bot.staff.audit import AuditTerms, describe_span, name_as_written, record_audit
from bot.staff.model import AuditAction
from bot.support.model import measure_tickets
from bot.support.repository import TicketRepository

T = TypeVar("T")

BATCH_SIZE: Final = 500
"""Orders that are read and formatted at once."""

ORDERS_SUBJECT: Final = "orders:"
"""The subject of an export of orders in the audit log."""

STATISTICS_TERMS: Final = AuditTerms(subjects={"orders": name_as_written})
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


class StatisticsService:
    """Count statistics, and export orders. Exports are recorded in the audit log."""

    def __init__(self, database: Database, settlement: SettlementClient, clock: Clock) -> None:
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
            requests = await StatisticsRepository(tx).count_requests(span.since, span.until)
            orders = await StatisticsRepository(tx).tally_orders(span.edges)
            tickets = measure_tickets(await TicketRepository(tx).times(span.since, span.until))
        return span, BotStatistics(
            users=users, subscribers=subscribers, orders=orders, tickets=tickets, requests=requests
        )

    async def load_service_statistics(self) -> ServiceStatistics:
        """Return the service's statistics and rails, and our totals. What the service doesn't answer is None."""
        stats, rails = await asyncio.gather(
            _or_none(self._settlement.platform_stats()), _or_none(self._settlement.deposit_rails())
        )
        async with self._database.reading() as tx:
            own = await StatisticsRepository(tx).count_totals()
        return ServiceStatistics(stats, rails, own)

    async def export_orders(self, span: Span, by: int) -> CsvFile:
        """Return the orders placed in a period, oldest first, read at one moment. Record who exported them."""
        async with self._database.reading() as tx:
            count = await StatisticsRepository(tx).count_orders(span.since, span.until)
            if not 0 < count <= MAX_ORDERS:
                return CsvFile(count, None)
            content = bytearray(csv.write_rows([list(COLUMNS)]))
            found = await StatisticsRepository(tx).order_lines(span.since, span.until, None, BATCH_SIZE)
            while found:
                content += await asyncio.to_thread(order_rows, found)
                found = await StatisticsRepository(tx).order_lines(span.since, span.until, found[-1], BATCH_SIZE)
        async with self._database.transaction() as tx:
            await record_audit(
                tx, by, AuditAction.EXPORTED, ORDERS_SUBJECT, self._clock.now(), detail=describe_span(span)
            )
        return CsvFile(count, bytes(content))


COLUMNS: Final[dict[str, Callable[[OrderLine], object]]] = {
    "reference": lambda line: csv.format_text(line.reference),
    "service_id": lambda line: csv.format_text(line.service_id),
    "created_at": lambda line: csv.format_time(line.created_at),
    "paid_at": lambda line: csv.format_time(line.paid_at),
    "ended_at": lambda line: csv.format_time(line.ended_at),
    "outcome": lambda line: line.outcome,
    "service_state": lambda line: csv.format_text(line.state),
    "destination_code": lambda line: csv.format_text(line.method.code),
    "destination_name": lambda line: csv.format_text(line.method.name),
    "destination_kind": lambda line: csv.format_text(line.method.kind),
    "paid_by": lambda line: csv.format_text(line.channel),
    "idr": lambda line: line.idr,
    "sats": lambda line: line.sats,
    "idr_per_btc": lambda line: "" if line.btc_idr is None else f"{line.btc_idr:f}",
}
"""The columns from left to right. docs/operators.md describes them."""


def order_rows(lines: Iterable[OrderLine]) -> bytes:
    """Return the rows of some orders."""
    return csv.write_rows([column(line) for column in COLUMNS.values()] for line in lines)


async def _or_none(call: Awaitable[T]) -> T | None:
    try:
        return await call
    except SettlementFailure:
        return None
