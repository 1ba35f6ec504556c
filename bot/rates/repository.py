"""Read and write recorded quotes, subscriptions and alerts."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, or_, select, update

from bot.infra.db.repository import Repository, once
from bot.rates.model import RateAlert, Subscription
from bot.rates.tables import HAS_DAILY, quotes, rate_alerts, subscriptions
from bot.settlement.model import Quote


class QuoteRepository(Repository[Quote]):
    """Read and write quotes."""

    table, kind = quotes, Quote

    async def add(self, quote: Quote) -> bool:
        """Insert a quote. Return False if the quote of this time is already stored."""
        return await self._insert(quote)

    async def find_between(self, since: datetime, until: datetime) -> tuple[Quote, ...]:
        """Return the quotes from `since` to `until`, both included, oldest first."""
        within = select(quotes).where(quotes.c.fetched_at >= since, quotes.c.fetched_at <= until)
        return await self._find(within.order_by(quotes.c.fetched_at))

    async def get_latest(self) -> Quote | None:
        """Return the newest quote by the service's time, or None."""
        return await self._find_first(select(quotes).order_by(quotes.c.fetched_at.desc()).limit(1))

    async def delete_before(self, before: datetime) -> int:
        """Delete older quotes, and return how many."""
        return await self._change(delete(quotes).where(quotes.c.fetched_at < before))

    def _to_row(self, value: Quote) -> dict[str, Any]:
        return {column.key: getattr(value, column.key) for column in quotes.columns}


class SubscriptionRepository(Repository[Subscription]):
    """Read and write subscriptions."""

    table, kind = subscriptions, Subscription

    async def get(self, user_id: int) -> Subscription | None:
        """Return the subscription of a user, or None."""
        of_user = once(lambda: select(subscriptions).where(subscriptions.c.user_id == bindparam("user")))
        return await self._get(of_user, {"user": user_id})

    async def save(self, subscription: Subscription) -> None:
        """Insert or replace a subscription."""
        await self._replace(subscription)

    async def delete(self, user_id: int) -> bool:
        """Delete the subscription and all alerts of a user, and return whether there were any."""
        ended = [
            await self._change(delete(table).where(table.c.user_id == user_id))
            for table in (subscriptions, rate_alerts)
        ]
        return any(ended)

    async def count(self) -> int:
        """Return the number of subscribers."""
        return await self._count()

    async def find_due(self, now: datetime, limit: int = 500) -> tuple[Subscription, ...]:
        """Return the subscriptions whose daily quote is due, the earliest first."""
        due = select(subscriptions).where(HAS_DAILY, subscriptions.c.next_daily_at <= now)
        return await self._find(due.order_by(subscriptions.c.next_daily_at).limit(limit))

    async def set_next_daily(self, user_id: int, due_at: datetime, next_at: datetime | None) -> bool:
        """Replace the due time `due_at` of the daily quote. Return False if it has changed since it was read."""
        known = update(subscriptions).where(subscriptions.c.user_id == user_id, subscriptions.c.next_daily_at == due_at)
        return await self._change(known.values(next_daily_at=next_at)) == 1

    async def clear_daily_quote(self, user_id: int) -> None:
        """End a daily quote that can't be sent because its row can't be read."""
        await self._change(update(subscriptions).where(subscriptions.c.user_id == user_id).values(next_daily_at=None))


class AlertRepository(Repository[RateAlert]):
    """Read and write alerts."""

    table, kind = rate_alerts, RateAlert

    async def find_by_user(self, user_id: int) -> tuple[RateAlert, ...]:
        """Return the alerts of a user, oldest first."""
        of_user = select(rate_alerts).where(rate_alerts.c.user_id == user_id)
        return await self._find(of_user.order_by(rate_alerts.c.created_at, rate_alerts.c.id))

    async def get(self, alert_id: str) -> RateAlert | None:
        """Return the alert with this id, of any user, or None."""
        return await self._get(select(rate_alerts).where(rate_alerts.c.id == alert_id))

    async def save(self, alert: RateAlert) -> None:
        """Insert or replace an alert."""
        await self._replace(alert)

    async def delete(self, alert_id: str) -> bool:
        """Delete an alert, and return whether there was one."""
        return await self._change(delete(rate_alerts).where(rate_alerts.c.id == alert_id)) == 1

    async def start_cooldown(self, alert_id: str, now: datetime, until: datetime) -> bool:
        """Start the cooldown of an alert. Return False if it is in one, or has expired."""
        active = update(rate_alerts).where(rate_alerts.c.id == alert_id, *_is_active(now))
        return await self._change(active.values(cooldown_until=until)) == 1

    async def find_active(self, now: datetime) -> tuple[RateAlert, ...]:
        """Return the alerts that aren't in a cooldown and haven't expired."""
        return await self._find(select(rate_alerts).where(*_is_active(now)))

    async def delete_expired(self, expired_before: datetime) -> int:
        """Delete alerts that expired before then, and return how many."""
        return await self._change(delete(rate_alerts).where(rate_alerts.c.expires_at < expired_before))


def _is_active(now: datetime) -> tuple[ColumnElement[bool], ...]:
    is_awake = or_(rate_alerts.c.cooldown_until.is_(None), rate_alerts.c.cooldown_until <= now)
    return rate_alerts.c.expires_at > now, is_awake
