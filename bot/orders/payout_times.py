"""How long payouts take, measured from the bot's own orders."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select

from bot.core.clock import Clock
from bot.core.sample_size import MIN_SAMPLES, SAMPLE_PERIOD
from bot.infra.db.columns import Instant, constant, microseconds_between
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.orders.measurement import CachedMeasurement
from bot.orders.tables import orders
from bot.settlement.steps import COMPLETED

SINCE, UNTIL = (bindparam(name, type_=Instant()) for name in ("since", "until"))
IS_SENT = orders.c.state == constant(COMPLETED)

TIMED = (
    select(microseconds_between(orders.c.paid_at, orders.c.ended_at).label("length"))
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
"""The number of orders, and the one or two lengths in the middle."""

SLOW = select(func.max(RANKED.c.length)).where(RANKED.c.place == (RANKED.c.every * 9 + 9) // 10)
"""The length that nine in ten orders didn't exceed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutTimes:
    """The time from the payment to the payout, over a number of `orders`.

    Half of them took `median` or less, and nine in ten took `slow` or less.
    """

    orders: int
    median: timedelta
    slow: timedelta

    @property
    def has_enough_samples(self) -> bool:
        """Whether there are enough orders for a reliable statement."""
        return self.orders >= MIN_SAMPLES


class PayoutTimeRepository:
    """Read how long payouts took."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def between(self, since: datetime, until: datetime) -> PayoutTimes | None:
        """Return how long payouts of orders from this period took, or None if there was none."""
        within = {"since": since, "until": until}
        timed, shorter, longer = (await self._connection.execute(MIDDLE, within)).one()
        if not timed:
            return None
        slow = (await self._connection.execute(SLOW, within)).scalar_one()
        median = timedelta(microseconds=(int(shorter) + int(longer)) // 2)
        return PayoutTimes(orders=timed, median=median, slow=timedelta(microseconds=int(slow)))


class PayoutTimeMeasurement(CachedMeasurement[PayoutTimes]):
    """Measure the payout times of completed orders."""

    def __init__(self, store: Database, clock: Clock) -> None:
        super().__init__(store, clock, _measure)


def format_payout_times(t: Translator, times: PayoutTimes) -> Html:
    """Return the sentence for the chat and the payment page. Times are rounded up, so that they aren't too short."""
    median, slow, days = t.within(times.median), t.within(times.slow), SAMPLE_PERIOD.days
    if median == slow:
        return t("orders.help.measured_alike", days=days, slow=slow)
    return t("orders.help.measured", days=days, median=median, slow=slow)


async def _measure(tx: Transaction, since: datetime, until: datetime) -> PayoutTimes | None:
    times = await PayoutTimeRepository(tx).between(since, until)
    return times if times is not None and times.has_enough_samples else None
