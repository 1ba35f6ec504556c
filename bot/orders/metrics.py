"""The metrics of orders."""

from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.metrics import counter, gauge, histogram
from bot.orders.repository import OrderRepository

LATE_AFTER: Final = timedelta(seconds=5)

PHASES: Final = ("intended", "unknown", "unresolved", "needs_confirmation", "unpaid", "paid")
"""The phases of an order that hasn't ended. `Phase.OPEN` is divided by whether the order is paid."""

ORDERS: Final = gauge("kirim_orders", "Orders that haven't ended.", phase=PHASES)
ORDER_REQUESTS: Final = counter(
    "kirim_order_posts",
    "Requests that create an order. Each order has one. After `unknown` the bot looks for the order.",
    result=("placed", "refused", "not_created", "unknown"),
)
ORDER_REQUEST_SECONDS: Final = histogram(
    "kirim_order_post_seconds",
    "How long the request that creates an order took.",
    (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
)
READS_LATE: Final = gauge(
    "kirim_order_reads_late",
    "Open orders whose state should have been read more than five seconds ago.",
    paid=("yes", "no"),
)
OVERDUE: Final = gauge("kirim_orders_overdue", "Paid orders that take longer than STUCK_SECONDS.")
PAYMENT_NOTICED_SECONDS: Final = histogram(
    "kirim_payment_noticed_seconds",
    "From the service's time of a payment until the bot saved it.",
    (1, 2, 3, 5, 8, 13, 30, 60, 300, 3600),
)
LAST_PAYMENT_NOTICED: Final = gauge(
    "kirim_last_payment_noticed_seconds",
    "From the last payment until the bot saved it. 0 if there was none since the start.",
)


async def refresh_gauges(database: Database, clock: Clock, overdue_after: timedelta) -> None:
    """Count the orders that haven't ended, by phase, and those that are late."""
    now = clock.now()
    async with database.reading() as tx:
        counts = await OrderRepository(tx).count_not_ended(now - overdue_after)
        for paid, is_paid in (("yes", True), ("no", False)):
            late = await OrderRepository(tx).count_due(now - LATE_AFTER, is_paid=is_paid)
            READS_LATE.labels(paid).set(late)
    for phase in PHASES:
        ORDERS.labels(phase).set(counts.by_phase[phase])
    OVERDUE.set(counts.overdue)


def record_payment_noticed(paid_at: datetime, now: datetime) -> None:
    """Record how much later than the service the bot saved a payment."""
    seconds = max((now - paid_at).total_seconds(), 0.0)
    PAYMENT_NOTICED_SECONDS.observe(seconds)
    LAST_PAYMENT_NOTICED.set(seconds)
