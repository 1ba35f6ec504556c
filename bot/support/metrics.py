"""The metrics of tickets."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import gauge, seconds_since
from bot.support.tickets.repository import TicketRepository

OLDEST_WAIT: Final = gauge(
    "kirim_tickets_oldest_wait_seconds",
    "How long the oldest of the tickets that wait for a reply has waited.",
)


async def refresh_gauges(database: Database, clock: Clock) -> None:
    """Read how long the oldest ticket has waited for a reply."""
    now = clock.now()
    async with database.reading() as tx:
        waiting = await TicketRepository(tx).waiting(now)
    OLDEST_WAIT.set(seconds_since(waiting[0].waiting_since, now) if waiting else 0)
