"""Read how long orders took from the payment to the rupiah, counted by the database."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select

from bot.infra.db.columns import Instant, constant
from bot.infra.db.durations import microseconds
from bot.infra.db.transaction import Transaction
from bot.orders.payout_times import PayoutTimes
from bot.orders.tables import orders
from bot.settlement.steps import COMPLETED

SINCE, UNTIL = (bindparam(name, type_=Instant()) for name in ("since", "until"))
IS_SENT = orders.c.state == constant(COMPLETED)

TIMED = (
    select(microseconds(orders.c.paid_at, orders.c.ended_at).label("length"))
    .where(orders.c.created_at >= SINCE, orders.c.created_at < UNTIL, IS_SENT, orders.c.ended_at > orders.c.paid_at)
    .subquery()
)
RANKED = select(
    TIMED.c.length,
    func.row_number().over(order_by=TIMED.c.length).label("place"),
    func.count().over().label("every"),
).subquery()
MIDDLE = select(func.max(RANKED.c.every), func.min(RANKED.c.length), func.max(RANKED.c.length)).where(
    RANKED.c.place.in_([(RANKED.c.every + 1) // 2, (RANKED.c.every + 2) // 2])
)
"""The lengths in the middle, one or two."""

SLOW = select(func.max(RANKED.c.length)).where(RANKED.c.place == (RANKED.c.every * 9 + 9) // 10)
"""The length that nine in ten did not exceed."""


class PayoutTimeRepository:
    """Read how long orders took."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def between(self, since: datetime, until: datetime) -> PayoutTimes | None:
        """Return how long the orders placed within this time took that were sent; None where none was."""
        within = {"since": since, "until": until}
        timed, shorter, longer = (await self._connection.execute(MIDDLE, within)).one()
        if not timed:
            return None
        slow = (await self._connection.execute(SLOW, within)).scalar_one()
        median = timedelta(microseconds=(int(shorter) + int(longer)) // 2)
        return PayoutTimes(orders=timed, median=median, slow=timedelta(microseconds=int(slow)))
