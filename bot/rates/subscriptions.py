"""What people wish to hear of the rate: a daily quote, alerts, when it is quiet, and the end of all of it.

Whoever wishes for any of it is a subscriber, and hears of operators' broadcasts, too; the screens say so. Each use
case saves the person along with it, since what was typed may have answered a question of theirs.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from bot.core.clock import Clock
from bot.core.time_of_day import USUAL_QUIET, next_at
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.rates.model import RateAlert, Subscription
from bot.rates.subscription_repository import SubscriptionRepository
from bot.users.model import Person
from bot.users.repository import UserRepository

MOST_ALERTS: Final = 10
"""So many one person may have; far more than a chat can be asked to ring."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """All that a person has asked to hear of the rate; alerts oldest first."""

    subscription: Subscription | None = None
    alerts: tuple[RateAlert, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether they hear nothing of it."""
        return self.subscription is None and not self.alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertWish:
    """An alert as it is wished for: `cool_down` in hours, None where it rings once; it waits for `days`."""

    is_above: bool
    threshold: Decimal
    cool_down: int | None
    days: int


class Subscribing:
    """The use cases of those who wish to hear of the rate; each to be called in the person's own lane."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def wishes(self, person_id: int) -> Wishes:
        """What they have asked for. Alerts that have expired are over, if not yet deleted."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            alerts = await SubscriptionRepository(tx).alerts_of(person_id)
            return Wishes(
                await SubscriptionRepository(tx).get(person_id),
                tuple(alert for alert in alerts if alert.expires_at > now),
            )

    async def daily(self, person: Person, minute: int | None) -> None:
        """A quote each day at this minute of the person's day (0 to 1,439), or none any more."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            await UserRepository(tx).save(person)
            subscription = await _subscribed(tx, person.id, now)
            await SubscriptionRepository(tx).save(_due(replace(subscription, daily_minute=minute), person, now))

    async def quiet(self, person: Person, hours: tuple[int, int] | None) -> None:
        """From which to which minute of their day news of the rate come without a sound; None is never."""
        start, end = hours or (None, None)
        async with self._store.transaction() as tx:
            await UserRepository(tx).save(person)
            subscription = await _subscribed(tx, person.id, self._clock.now())
            await SubscriptionRepository(tx).save(replace(subscription, quiet_from=start, quiet_until=end))

    async def alert(self, person: Person, wish: AlertWish) -> bool:
        """Set an alert; the same one again begins anew. False where the person has as many as one may."""
        now, alert_id = self._clock.now(), _id_of(person.id, wish)
        async with self._store.transaction() as tx:
            others = [each for each in await SubscriptionRepository(tx).alerts_of(person.id) if each.id != alert_id]
            if sum(each.expires_at > now for each in others) >= MOST_ALERTS:
                return False
            await UserRepository(tx).save(person)
            await SubscriptionRepository(tx).save(await _subscribed(tx, person.id, now))
            await SubscriptionRepository(tx).save_alert(_alert(alert_id, person.id, wish, now))
        return True

    async def drop(self, person_id: int, alert_id: str) -> bool:
        """Delete one of the person's own alerts; whether there was such a one."""
        async with self._store.transaction() as tx:
            alert = await SubscriptionRepository(tx).alert(alert_id)
            if alert is None or alert.person_id != person_id:
                return False
            return await SubscriptionRepository(tx).delete_alert(alert_id)

    async def stop(self, person_id: int) -> bool:
        """End all of it; whether there was any."""
        async with self._store.transaction() as tx:
            return await SubscriptionRepository(tx).delete(person_id)

    async def move_daily_quote(self, tx: Transaction, user: Person) -> None:
        """Plan the daily quote of a user for the same hour in their new time zone (a hook of `UserService`)."""
        subscription = await SubscriptionRepository(tx).get(user.id)
        if subscription is not None and subscription.daily_minute is not None:
            await SubscriptionRepository(tx).save(_due(subscription, user, self._clock.now()))


async def _subscribed(tx: Transaction, person_id: int, now: datetime) -> Subscription:
    """Their subscription, or a new one with the usual quiet hours."""
    known = await SubscriptionRepository(tx).get(person_id)
    start, end = USUAL_QUIET
    return known or Subscription(person_id=person_id, since=now, quiet_from=start, quiet_until=end)


def _due(subscription: Subscription, person: Person, now: datetime) -> Subscription:
    minute = subscription.daily_minute
    return replace(subscription, next_daily_at=None if minute is None else next_at(minute, person.zone, now))


def _alert(alert_id: str, person_id: int, wish: AlertWish, now: datetime) -> RateAlert:
    return RateAlert(
        id=alert_id,
        person_id=person_id,
        is_above=wish.is_above,
        threshold=wish.threshold,
        cool_down=None if wish.cool_down is None else int(timedelta(hours=wish.cool_down).total_seconds()),
        created_at=now,
        expires_at=now + timedelta(days=wish.days),
    )


def _id_of(person_id: int, wish: AlertWish) -> str:
    """The same wish has the same id, so that a second tap sets nothing twice."""
    told_apart = f"{person_id}:{wish.is_above}:{wish.threshold}:{wish.cool_down}"
    return hashlib.sha256(told_apart.encode()).hexdigest()[:16]


async def end_subscription(tx: Transaction, chat_id: int, now: datetime) -> None:
    """Delete the subscription and alerts of a user who can't be reached (a hook of the outbox and of `UserService`).

    A user who blocked the bot and comes back doesn't want quotes from before.
    """
    del now
    await SubscriptionRepository(tx).delete(chat_id)
