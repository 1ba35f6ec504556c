"""The median time to the first reply, which a new ticket names."""

from datetime import timedelta

from bot.core.sample_size import SAMPLE_PERIOD
from bot.orders.measurement import CachedMeasurement
from bot.support.ticket_statistics import measure_tickets
from bot.support.tickets.repository import TicketRepository


class ReplyTime(CachedMeasurement[timedelta]):
    """The median time to the first reply, measured as `/stats` measures it."""

    async def _measure(self) -> timedelta | None:
        now = self._clock.now()
        async with self._database.reading() as tx:
            times = await TicketRepository(tx).times(now - SAMPLE_PERIOD, now)
        return measure_tickets(times).typical_reply
