"""The metrics of tickets."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import gauge, seconds_since
from bot.support.model import TicketFilter
from bot.support.tickets.repository import TicketRepository

TICKETS_OPEN: Final = gauge("kirim_tickets_open", "Tickets that are open.")
OLDEST_WAIT: Final = gauge(
    "kirim_tickets_oldest_wait_seconds",
    "How long the oldest of the tickets that wait for a reply has waited.",
)


async def refresh_gauges(database: Database, clock: Clock) -> None:
    """Read how many tickets are open, and how long the oldest has waited for a reply."""
    now = clock.now()
    async with database.reading() as tx:
        count = await TicketRepository(tx).count(TicketFilter.OPEN, 0)
        waiting = await TicketRepository(tx).waiting(now)
    TICKETS_OPEN.set(count)
    OLDEST_WAIT.set(seconds_since(waiting[0].waiting_since, now) if waiting else 0)
