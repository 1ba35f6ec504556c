"""How soon support usually replies to a new ticket, as far as the bot's own tickets show it."""

from datetime import datetime, timedelta

from bot.actions.measured import Measured
from bot.actions.ports import Clock, Store, Transaction
from bot.domain.ticket_times import measured


class ReplyTime(Measured[timedelta]):
    """Measures first replies as `/stats` does."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, clock, _usual)


async def _usual(tx: Transaction, since: datetime, until: datetime) -> timedelta | None:
    return measured(await tx.tickets.times(since, until)).usual_reply
