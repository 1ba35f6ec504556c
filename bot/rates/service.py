"""Record quotes and read their history, and set up and end rate updates.

A user with any rate update is a subscriber, who also gets operators' broadcasts. The screens say so.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.clock import Clock
from bot.core.time_of_day import DEFAULT_QUIET_HOURS, next_at
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.rates.model import (
    AlertRequest,
    ChartPeriod,
    RateAlert,
    RateHistory,
    RatePoint,
    RateUpdates,
    Subscription,
    make_history,
    thin_points,
    to_points,
)
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import Quote
from bot.users.model import User
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

MAX_AGE: Final = timedelta(days=400)
QUERY_SPAN: Final = timedelta(days=1)
"""The time span of one query. A month has many thousand rows, which would block the event loop."""

POINTS_PER_QUERY: Final = 300


class QuoteService:
    """Record and read quotes. `on_recorded` is called after each new quote."""

    def __init__(
        self, database: Database, settlement: SettlementClient, clock: Clock, on_recorded: Callable[[], None]
    ) -> None:
        self._database = database
        self._settlement = settlement
        self._clock = clock
        self._on_recorded = on_recorded

    async def record(self) -> bool:
        """Save the current quote. Return False if it is already saved, or if the service has none."""
        try:
            quote = await self._settlement.quote()
        except SettlementFailure as failure:
            log.warning("quote_not_recorded", error=type(failure).__name__)
            return False
        async with self._database.transaction() as tx:
            is_new = await QuoteRepository(tx).add(quote)
        if is_new:
            self._on_recorded()
        return is_new

    async def prune(self) -> int:
        """Delete quotes that are too old for any chart, and return how many."""
        async with self._database.transaction() as tx:
            return await QuoteRepository(tx).delete_before(self._clock.now() - MAX_AGE)

    async def history(self, period: ChartPeriod, quote: Quote) -> RateHistory:
        """Return the history of the period before `quote`. The quote itself doesn't have to be recorded."""
        seen: list[RatePoint] = []
        for since, until in _query_spans(quote.fetched_at - period.length, quote.fetched_at):
            async with self._database.reading() as tx:
                seen += thin_points(to_points(await QuoteRepository(tx).find_between(since, until)), POINTS_PER_QUERY)
        return make_history(period, seen, quote)


def _query_spans(since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """Return consecutive spans that cover this time without overlap."""
    count = -(-(until - since) // QUERY_SPAN)
    last = timedelta(microseconds=1)
    return [(since + n * QUERY_SPAN, min(since + (n + 1) * QUERY_SPAN, until) - last) for n in range(count)]


MAX_ALERTS: Final = 10
"""The maximum of alerts of one user."""


class SubscriptionService:
    """Read and change the subscription of a user, in the queue of their chat.

    Methods with a `user` save the user, too, because a typed answer closes the open question.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get_updates(self, user_id: int) -> RateUpdates:
        """Return the rate updates of a user, without expired alerts."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            alerts = await AlertRepository(tx).find_by_user(user_id)
            return RateUpdates(
                await SubscriptionRepository(tx).get(user_id),
                tuple(alert for alert in alerts if alert.expires_at > now),
            )

    async def set_daily_time(self, user: User, minute: int | None) -> None:
        """Set the daily quote's time, in minutes of the user's day (0 to 1,439). None ends the daily quote."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            subscription = await _find_or_create(tx, user.id, now)
            await SubscriptionRepository(tx).save(
                _with_next_daily(replace(subscription, daily_minute=minute), user, now)
            )

    async def set_quiet_hours(self, user: User, hours: tuple[int, int] | None) -> None:
        """Set the quiet hours, in minutes of the user's day. None removes them."""
        start, end = hours or (None, None)
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            subscription = await _find_or_create(tx, user.id, self._clock.now())
            await SubscriptionRepository(tx).save(replace(subscription, quiet_from=start, quiet_until=end))

    async def set_alert(self, user: User, request: AlertRequest) -> bool:
        """Set an alert, or restart the same one. Return False if the user has the maximum of alerts."""
        now, alert_id = self._clock.now(), _alert_id(user.id, request)
        async with self._database.transaction() as tx:
            others = [each for each in await AlertRepository(tx).find_by_user(user.id) if each.id != alert_id]
            if sum(each.expires_at > now for each in others) >= MAX_ALERTS:
                return False
            await UserRepository(tx).save(user)
            await SubscriptionRepository(tx).save(await _find_or_create(tx, user.id, now))
            await AlertRepository(tx).save(_make_alert(alert_id, user.id, request, now))
        return True

    async def delete_alert(self, user_id: int, alert_id: str) -> bool:
        """Delete an alert of the user, and return whether it existed."""
        async with self._database.transaction() as tx:
            alert = await AlertRepository(tx).get(alert_id)
            if alert is None or alert.user_id != user_id:
                return False
            return await AlertRepository(tx).delete(alert_id)

    async def end(self, user_id: int) -> bool:
        """End the subscription and all alerts, and return whether there were any."""
        async with self._database.transaction() as tx:
            return await SubscriptionRepository(tx).delete(user_id)

    async def move_daily_quote(self, tx: Transaction, user: User) -> None:
        """Move a user's daily quote to the same hour in their new time zone."""
        subscription = await SubscriptionRepository(tx).get(user.id)
        if subscription is not None and subscription.daily_minute is not None:
            await SubscriptionRepository(tx).save(_with_next_daily(subscription, user, self._clock.now()))


async def _find_or_create(tx: Transaction, user_id: int, now: datetime) -> Subscription:
    """Return the user's subscription, or a new one with the usual quiet hours."""
    known = await SubscriptionRepository(tx).get(user_id)
    start, end = DEFAULT_QUIET_HOURS
    return known or Subscription(user_id=user_id, subscribed_at=now, quiet_from=start, quiet_until=end)


def _with_next_daily(subscription: Subscription, user: User, now: datetime) -> Subscription:
    minute = subscription.daily_minute
    return replace(subscription, next_daily_at=None if minute is None else next_at(minute, user.zone, now))


def _make_alert(alert_id: str, user_id: int, request: AlertRequest, now: datetime) -> RateAlert:
    return RateAlert(
        id=alert_id,
        user_id=user_id,
        is_above=request.is_above,
        threshold=request.threshold,
        cooldown_seconds=None if request.cooldown_hours is None else request.cooldown_hours * 3600,
        created_at=now,
        expires_at=now + timedelta(days=request.days),
    )


def _alert_id(user_id: int, request: AlertRequest) -> str:
    """Return the alert's id. Equal requests have the same id, so a second tap doesn't set another alert."""
    identity = f"{user_id}:{request.is_above}:{request.threshold}:{request.cooldown_hours}"
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


async def end_subscription(tx: Transaction, chat_id: int, now: datetime) -> None:
    """Delete the subscription and alerts of a user who can't be reached.

    A user who comes back later has to subscribe again.
    """
    del now
    await SubscriptionRepository(tx).delete(chat_id)
