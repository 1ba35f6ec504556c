"""Looks every few seconds whether somebody has waited for support for too long."""

from bot.support.tickets.waiting import TicketWaiting

LOOK_EVERY_SECONDS = 3.0


class Tickets:
    """One `tick` reminds of what waits."""

    def __init__(self, waiting: TicketWaiting) -> None:
        self._waiting = waiting

    async def tick(self) -> float:
        """Remind, where it is time to; how long until the next look."""
        await self._waiting.look()
        return LOOK_EVERY_SECONDS
