"""The gauges that are read when Prometheus asks: of rows in the database, and of this process's limits.

The label of a destination is a name in our own list of banks and e-wallets, never a text of the service. A destination
that the list doesn't have has no series.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from prometheus_client import Gauge

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.metrics import start_at_zero
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.operations.model import RequestFigures
from bot.operations.repository import StatisticsRepository
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.model import DestinationHealth
from bot.orders.limits import DAY
from bot.orders.repository import OrderRepository
from bot.recipients.banks import find_known
from bot.settlement.budget import Budget
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from bot.support.repository import TicketRepository

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """How the bot does right now and did in the last hour. Times are seconds. None means that there was nothing."""

    last_payment_noticed: float | None
    """From the service's time of the last payment until the bot saved it."""

    answer_median: float | None
    answer_p99: float | None
    slow_downs: int
    """How often Telegram rejected a call of this process with 429."""

    bulk_limit: float
    """How many messages in bulk a second this process sends at most. Only the leader sends them."""

    requests: RequestFigures
    """Payment requests, and the orders of links in the last 24 hours."""

    has_shared_requests: bool
    """Whether Telegram tells the bot that a payment request was shared."""

    service_budget: float
    """How many requests a second this process sends to the settlement service at most."""


class LiveFigureReader:
    """Reads the figures."""

    def __init__(self, infra: Infra, limiter: SendLimiter, budget: Budget) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._limiter = limiter
        self._budget = budget

    async def read(self) -> LiveFigures:
        """Return the figures.

        Raises:
            StoreDown: the database failed.
        """
        async with self._database.reading() as tx:
            payment = await StatisticsRepository(tx).find_last_payment()
            has_shared = await StatisticsRepository(tx).has_shared_requests()
            requests = await StatisticsRepository(tx).get_request_figures(self._clock.now() - DAY)
            median, p99 = await StatisticsRepository(tx).find_answer_times(self._clock.now() - HOUR)
        return LiveFigures(
            last_payment_noticed=payment,
            answer_median=median,
            answer_p99=p99,
            slow_downs=self._limiter.slow_downs,
            bulk_limit=self._limiter.bulk_per_second,
            requests=requests,
            has_shared_requests=has_shared,
            service_budget=self._budget.per_second,
        )


LATE_AFTER: Final = timedelta(seconds=5)

PHASES: Final = ("intended", "unknown", "unresolved", "needs_confirmation", "unpaid", "paid")
"""The phases of an order that hasn't ended. `Phase.OPEN` is divided by whether the order is paid."""

PAID: Final = {"yes": True, "no": False}

MAX_DESTINATIONS: Final = 40
"""Only the most used ones have series."""

INBOX_WAITING: Final = Gauge("kirim_inbox_waiting", "Updates and jobs of chats that aren't finished.")
NOTIFICATIONS_WAITING: Final = Gauge(
    "kirim_notifications_waiting", "Notifications that are due and not sent.", ["queue"]
)
start_at_zero(NOTIFICATIONS_WAITING, Queue)
NOTIFICATIONS_OLDEST: Final = Gauge(
    "kirim_notifications_oldest_seconds",
    "How long the oldest notification that is due has waited. 0 if there is none.",
    ["queue"],
)
start_at_zero(NOTIFICATIONS_OLDEST, Queue)
ORDERS: Final = Gauge("kirim_orders", "Orders that haven't ended.", ["phase"])
start_at_zero(ORDERS, PHASES)
READS_LATE: Final = Gauge(
    "kirim_order_reads_late",
    "Open orders whose state should have been read more than five seconds ago.",
    ["paid"],
)
start_at_zero(READS_LATE, PAID)
OVERDUE: Final = Gauge("kirim_orders_overdue", "Paid orders that take longer than STUCK_SECONDS.")
LAST_PAYMENT_NOTICED: Final = Gauge(
    "kirim_last_payment_noticed_seconds", "From the last payment until the bot saved it. 0 if there was none."
)
ALARMS_OPEN: Final = Gauge("kirim_alarms_open", "Alarms that are open.", ["kind"])
start_at_zero(ALARMS_OPEN, AlarmKind)
OLDEST_WAIT: Final = Gauge(
    "kirim_tickets_oldest_wait_seconds", "How long the oldest of the tickets that wait for a reply has waited."
)
TELEGRAM: Final = "telegram"
BROWSER: Final = "browser"
REQUESTS_OPEN: Final = Gauge("kirim_payment_requests_open", "Payment requests that aren't closed.")
LINK_ORDERS: Final = Gauge(
    "kirim_payment_request_orders", "Orders that links have made in the last 24 hours.", ["paid_in"]
)
start_at_zero(LINK_ORDERS, (TELEGRAM, BROWSER))
SECONDS: Final = Gauge(
    "kirim_destination_seconds",
    "From the payment until the payout was sent, over 30 days. Only destinations with enough transfers.",
    ["destination", "quantile"],
)
FAILED_RATIO: Final = Gauge(
    "kirim_destination_failed_ratio", "The share of paid transfers that failed, over 30 days.", ["destination"]
)
TROUBLE: Final = Gauge(
    "kirim_destination_trouble",
    "1 while the newest transfers to a destination are late (`slow`) or fail (`failing`), else 0.",
    ["destination", "problem"],
)
BULK_SEND_LIMIT: Final = Gauge(
    "kirim_bulk_send_limit_per_second",
    "How many messages in bulk a second the bot sends at most now. It adapts to Telegram's 429s.",
)


class Gauges:
    """Reads the gauges.

    `overdue_after` is how long after its payment an order that hasn't ended is overdue.
    """

    def __init__(
        self, infra: Infra, limiter: SendLimiter, destinations: DestinationHealthService, overdue_after: timedelta
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._limiter = limiter
        self._destinations = destinations
        self._overdue_after = overdue_after

    async def refresh(self) -> None:
        """Set all gauges.

        Raises:
            StoreDown: the database failed. The gauges of its rows keep their last values.
        """
        BULK_SEND_LIMIT.set(self._limiter.bulk_per_second)
        async with self._database.reading() as tx:
            await self._count_rows(tx)
        await refresh_destinations(self._destinations)

    async def _count_rows(self, tx: Transaction) -> None:
        now, orders = self._clock.now(), OrderRepository(tx)
        INBOX_WAITING.set(await InboxRepository(tx).count_unfinished())
        for queue, backlog in (await OutboxRepository(tx).get_backlogs(now)).items():
            NOTIFICATIONS_WAITING.labels(queue).set(backlog.count)
            NOTIFICATIONS_OLDEST.labels(queue).set(max((now - (backlog.since or now)).total_seconds(), 0.0))
        counts = await orders.count_not_ended(now - self._overdue_after)
        for phase in PHASES:
            ORDERS.labels(phase).set(counts.by_phase[phase])
        OVERDUE.set(counts.overdue)
        for paid, is_paid in PAID.items():
            READS_LATE.labels(paid).set(await orders.count_due(now - LATE_AFTER, is_paid=is_paid))
        LAST_PAYMENT_NOTICED.set(await StatisticsRepository(tx).find_last_payment() or 0.0)
        requests = await StatisticsRepository(tx).get_request_figures(now - DAY)
        REQUESTS_OPEN.set(requests.open)
        LINK_ORDERS.labels(TELEGRAM).set(requests.in_telegram)
        LINK_ORDERS.labels(BROWSER).set(requests.in_browsers)
        alarms = Counter(alarm.kind for alarm in await AlarmRepository(tx).find_open())
        for kind in AlarmKind:
            ALARMS_OPEN.labels(kind).set(alarms[kind])
        waiting = [ticket.waiting_since for ticket in await TicketRepository(tx).waiting(now)]
        OLDEST_WAIT.set(max((now - (next(iter(waiting), None) or now)).total_seconds(), 0.0))


async def refresh_destinations(destinations: DestinationHealthService) -> None:
    """Set the gauges of the most used destinations, and remove those of the others."""
    health = await destinations.get()
    if health is None:
        return
    for gauge in (SECONDS, FAILED_RATIO, TROUBLE):
        gauge.clear()
    for each in reversed(health.known()[:MAX_DESTINATIONS]):
        # A name that two live entries share belongs to the one that is used more.
        if (known := find_known(*each.method.pair)) is not None:
            _set_destination(known.label, each)


def _set_destination(name: str, each: DestinationHealth) -> None:
    times, usual = each.usual.times, each.usual
    if times is not None:
        SECONDS.labels(name, "0.5").set(times.usual.median.value.total_seconds())
        if times.usual.ninety is not None:
            SECONDS.labels(name, "0.9").set(times.usual.ninety.value.total_seconds())
    FAILED_RATIO.labels(name).set(usual.failed / usual.finished)
    TROUBLE.labels(name, "slow").set(each.slow is not None)
    TROUBLE.labels(name, "failing").set(each.failing is not None)
