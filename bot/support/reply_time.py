"""How soon support usually replies to a new ticket."""

from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.measurement import CachedMeasurement
from bot.support.ticket_statistics import measure_tickets
from bot.support.tickets.repository import TicketRepository


class ReplyTime(CachedMeasurement[timedelta]):
    """The median time to the first reply, measured as `/stats` measures it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock, _measure)


async def _measure(tx: Transaction, since: datetime, until: datetime) -> timedelta | None:
    return measure_tickets(await TicketRepository(tx).times(since, until)).typical_reply
