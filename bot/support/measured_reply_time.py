"""How soon support usually replies to a new ticket, as far as the bot's own tickets show it."""

from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.infra.db.ports import Store, Transaction
from bot.orders.measured import Measured
from bot.support.reply_times import measured


class ReplyTime(Measured[timedelta]):
    """Measures first replies as `/stats` does."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, clock, _usual)


async def _usual(tx: Transaction, since: datetime, until: datetime) -> timedelta | None:
    return measured(await tx.tickets.times(since, until)).usual_reply
