"""Record quotes over time, and queue notifications: daily quotes that are due, and alerts that a quote meets.

They go through the outbox a few at a time, so that messages about money don't wait behind thousands of quotes at eight
o'clock. The next due time is saved in the transaction that queues a notification, so nothing is sent twice.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from bot.core.clock import Clock
from bot.core.time_of_day import next_at
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.workers import run_each
from bot.rates.model import RateAlert, Subscription
from bot.rates.notifications import MAX_DELAY, RATE_SUBJECT, DailyQuote, daily_quote, price_alert
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.rates.service import QuoteService
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import Quote
from bot.users.repository import UserRepository

MAX_QUEUED: Final = 24
"""The maximum of these notifications in the outbox. More would only wait there."""

_A_DAY, _ABOUT = timedelta(days=1), timedelta(minutes=30)
_TRY_AGAIN: Final = timedelta(minutes=1)
"""When a daily quote is tried again whose user only another process can read."""


class RateScheduler:
    """Queue daily quotes and alerts. `on_notification` is called after notifications were queued."""

    def __init__(
        self,
        database: Database,
        catalogue: ServiceCatalogue,
        clock: Clock,
        on_notification: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock
        self._on_notification = on_notification
        self._checked: Quote | None = None
        self._aside = set[str]()
        self._met: dict[str, tuple[RateAlert, Quote]] = {}

    async def begin_to_lead(self) -> None:
        """Check the alerts again with the newest quote. Another process may have sent those that this one had found."""
        self._checked = None
        self._met.clear()

    async def queue_due(self) -> bool:
        """Queue daily quotes that are due, and skip late ones. Return whether to call again soon."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            due = await SubscriptionRepository(tx).find_due(now, MAX_QUEUED)
            capacity = MAX_QUEUED - await OutboxRepository(tx).count_due(RATE_SUBJECT, now)
        await self._set_unreadable_aside()
        late = [each for each in due if _is_late(each, now)]
        timely = due[len(late) : len(late) + max(capacity, 0)]
        quote = await self._quote(now) if timely else None
        taken = (*late, *(timely if quote is not None else ()))
        if taken:
            async with self._database.reading() as tx:
                payload = None if quote is None else DailyQuote(quote, await _daily_change(tx, quote))

            async def queue(due: Subscription) -> None:
                async with self._database.transaction() as tx:
                    await _queue_daily_quote(tx, due, now, None if _is_late(due, now) else payload)

            await run_each("subscriptions", taken, queue)
            self._on_notification()
        return bool(taken) or (bool(due) and capacity <= 0)

    async def _set_unreadable_aside(self) -> None:
        """End daily quotes whose row can't be read. They would be due again at each call, before all others."""
        found = self._database.damaged_keys("subscriptions") - self._aside
        if found:
            async with self._database.transaction() as tx:
                for key in found:
                    await SubscriptionRepository(tx).clear_daily_quote(int(key))
            self._aside |= found

    async def check_latest(self) -> None:
        """Check the alerts if there is a new quote since the last check."""
        async with self._database.reading() as tx:
            latest = await QuoteRepository(tx).get_latest()
        if latest is not None and latest != self._checked:
            await self.check(latest)

    async def check(self, quote: Quote) -> int:
        """Collect the alerts that `quote` meets for `queue_met`, and return how many. A stale quote meets none."""
        now = self._clock.now()
        self._checked = quote
        if quote.is_stale(now):
            return 0
        async with self._database.transaction() as tx:
            await AlertRepository(tx).delete_expired(now)
            met = [alert for alert in await AlertRepository(tx).find_active(now) if alert.is_met_by(quote.btc_idr)]
        for alert in met:
            self._met.setdefault(alert.id, (alert, quote))
        return len(met)

    async def queue_met(self) -> bool:
        """Queue alerts that were met, and return whether there are more."""
        if not self._met:
            return False
        now = self._clock.now()
        async with self._database.reading() as tx:
            capacity = MAX_QUEUED - await OutboxRepository(tx).count_due(RATE_SUBJECT, now)

        async def queue(alert_id: str) -> None:
            async with self._database.transaction() as tx:
                await _queue_alert(tx, *self._met[alert_id], now)
            del self._met[alert_id]

        await run_each("subscriptions", tuple(self._met)[: max(capacity, 0)], queue)
        self._on_notification()
        return bool(self._met)

    async def _quote(self, now: datetime) -> Quote | None:
        """Return the current quote. None if there is none, or if it is stale."""
        try:
            quote = await self._catalogue.quote()
        except SettlementFailure:
            return None
        return None if quote.is_stale(now) else quote


def _is_late(subscription: Subscription, now: datetime) -> bool:
    return subscription.next_daily_at is not None and now - subscription.next_daily_at > MAX_DELAY


async def _queue_daily_quote(tx: Transaction, due: Subscription, now: datetime, payload: DailyQuote | None) -> None:
    """Save the next due time, and queue today's quote. With payload None today's quote is skipped."""
    try:
        user = await UserRepository(tx).get(due.user_id)
    except RowUnreadable as error:
        user = None
        if error.is_unknown and due.next_daily_at is not None:
            await SubscriptionRepository(tx).set_next_daily(due.user_id, due.next_daily_at, now + _TRY_AGAIN)
            return
    if user is None or due.next_daily_at is None:
        # It would be due again at each call.
        await SubscriptionRepository(tx).clear_daily_quote(due.user_id)
        return
    upcoming = None if due.daily_minute is None else next_at(due.daily_minute, user.zone, now)
    if (
        await SubscriptionRepository(tx).set_next_daily(due.user_id, due.next_daily_at, upcoming)
        and payload is not None
    ):
        await OutboxRepository(tx).add([daily_quote(due.user_id, due.next_daily_at, payload, now)])


async def _queue_alert(tx: Transaction, alert: RateAlert, quote: Quote, now: datetime) -> None:
    """Queue an alert if it still exists. Then delete it, or start its cooldown."""
    if alert.cooldown_seconds is None:
        is_due = await AlertRepository(tx).delete(alert.id)
        cooldown_until = None
    else:
        cooldown_until = now + timedelta(seconds=alert.cooldown_seconds)
        is_due = await AlertRepository(tx).start_cooldown(alert.id, now, cooldown_until)
    if is_due:
        await OutboxRepository(tx).add([price_alert(alert, quote, cooldown_until, now)])


async def _daily_change(tx: Transaction, quote: Quote) -> Decimal | None:
    """Return the change of the rate since the day before in percent, or None without a record of that day."""
    then = quote.fetched_at - _A_DAY
    around = await QuoteRepository(tx).find_between(then - _ABOUT, then + _ABOUT)
    if not around:
        return None
    before = min(around, key=lambda each: abs(each.fetched_at - then))
    return round((quote.btc_idr / before.btc_idr - 1) * 100, 2)


PRUNE_EVERY: Final = timedelta(hours=6)
EVERY_SECONDS: Final = 5.0
SOON_SECONDS: Final = 0.5
"""The pause while there is more to queue. By then Telegram may have accepted some messages."""


class QuoteRecorder:
    """Record a quote at each `tick`. `interval` is the seconds between two."""

    def __init__(self, quotes: QuoteService, clock: Clock, interval: float) -> None:
        self._quotes = quotes
        self._clock = clock
        self._interval = interval
        self._prune_at: datetime | None = None

    async def tick(self) -> float:
        """Record the current quote, and return the seconds until the next call."""
        await self._quotes.record()
        now = self._clock.now()
        if self._prune_at is None or now >= self._prune_at:
            await self._quotes.prune()
            self._prune_at = now + PRUNE_EVERY
        return self._interval


class SubscriptionWorker:
    """Queue due daily quotes, and alerts that the newest quote meets, at each `tick`."""

    def __init__(self, scheduler: RateScheduler) -> None:
        self._scheduler = scheduler

    async def tick(self) -> float:
        """Queue as many notifications as the outbox may hold, and return the seconds until the next call."""
        dailies_left = await self._scheduler.queue_due()
        await self._scheduler.check_latest()
        alerts_left = await self._scheduler.queue_met()
        return SOON_SECONDS if dailies_left or alerts_left else EVERY_SECONDS
