"""Read and write recorded quotes, subscriptions and alerts."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, delete, func, or_, select, update

from bot.core.time_of_day import is_quiet
from bot.core.zones import zone_of
from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.rates.model import RateAlert, Subscription
from bot.rates.tables import HAS_DAILY, quotes, rate_alerts, subscriptions
from bot.settlement.model import Quote
from bot.users.tables import users

QUOTE_AT = quotes.c.fetched_at
QUOTES_BETWEEN = (
    select(quotes)
    .where(bindparam("since", type_=QUOTE_AT.type) <= QUOTE_AT, bindparam("until", type_=QUOTE_AT.type) >= QUOTE_AT)
    .order_by(QUOTE_AT)
)
LATEST_QUOTE = select(quotes).order_by(QUOTE_AT.desc()).limit(1)
DELETE_QUOTES = delete(quotes).where(bindparam("before", type_=QUOTE_AT.type) > QUOTE_AT)


USER = bindparam("user", type_=subscriptions.c.user_id.type)
NOW = bindparam("now", type_=rate_alerts.c.expires_at.type)
ONE = select(subscriptions).where(subscriptions.c.user_id == USER)
COUNT = select(func.count()).select_from(subscriptions)
QUIET = (
    select(subscriptions.c.user_id, users.c.time_zone, subscriptions.c.quiet_from, subscriptions.c.quiet_until)
    .join_from(subscriptions, users, users.c.id == subscriptions.c.user_id)
    .where(
        subscriptions.c.quiet_from.is_not(None),
        subscriptions.c.user_id.in_(bindparam("these", expanding=True)),
    )
)
DUE = (
    select(subscriptions)
    .where(HAS_DAILY, subscriptions.c.next_daily_at <= NOW)
    .order_by(subscriptions.c.next_daily_at)
    .limit(bindparam("limit", type_=Integer()))
)
SET_NEXT_DAILY = update(subscriptions).where(
    subscriptions.c.user_id == USER,
    subscriptions.c.next_daily_at == bindparam("due_at", type_=subscriptions.c.next_daily_at.type),
)
CLEAR_DAILY = update(subscriptions).where(subscriptions.c.user_id == USER).values(next_daily_at=None)
DELETE = delete(subscriptions).where(subscriptions.c.user_id == USER)

ALERT = select(rate_alerts).where(rate_alerts.c.id == bindparam("id"))
ALERTS_OF = select(rate_alerts).where(rate_alerts.c.user_id == USER)
ALERTS_OF = ALERTS_OF.order_by(rate_alerts.c.created_at, rate_alerts.c.id)
IS_ACTIVE = (
    rate_alerts.c.expires_at > NOW,
    or_(rate_alerts.c.cooldown_until.is_(None), rate_alerts.c.cooldown_until <= NOW),
)
ACTIVE_ALERTS = select(rate_alerts).where(*IS_ACTIVE)
START_COOLDOWN = update(rate_alerts).where(
    rate_alerts.c.id == bindparam("alert", type_=rate_alerts.c.id.type), *IS_ACTIVE
)
DELETE_ALERT = delete(rate_alerts).where(rate_alerts.c.id == bindparam("id"))
DELETE_ALERTS = delete(rate_alerts).where(rate_alerts.c.user_id == USER)
DELETE_EXPIRED = delete(rate_alerts).where(rate_alerts.c.expires_at < NOW)


class QuoteRepository:
    """Read and write quotes."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, quote: Quote) -> bool:
        """Insert a quote. Return False if the quote of this time is already stored."""
        return await upsert.insert_new(
            self._connection,
            quotes,
            {
                "fetched_at": quote.fetched_at,
                "btc_idr": quote.btc_idr,
                "usdc_idr": quote.usdc_idr,
                "source": quote.source,
            },
        )

    async def find_between(self, since: datetime, until: datetime) -> tuple[Quote, ...]:
        """Return the quotes from `since` to `until`, both included, oldest first."""
        found = await self._connection.execute(QUOTES_BETWEEN, {"since": since, "until": until})
        return encryption.read_rows(self._vault, quotes, found.mappings(), _quote)

    async def get_latest(self) -> Quote | None:
        """Return the newest quote by the service's time, or None."""
        row = (await self._connection.execute(LATEST_QUOTE)).mappings().first()
        return encryption.read_row_or_none(self._vault, quotes, dict(row), _quote) if row else None

    async def delete_before(self, before: datetime) -> int:
        """Delete older quotes, and return how many."""
        return (await self._connection.execute(DELETE_QUOTES, {"before": before})).rowcount


class SubscriptionRepository:
    """Read and write subscriptions and alerts."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, user_id: int) -> Subscription | None:
        """Return the subscription of a user, or None."""
        row = (await self._connection.execute(ONE, {"user": user_id})).mappings().first()
        return encryption.read_row(self._vault, subscriptions, dict(row), _subscription) if row else None

    async def save(self, subscription: Subscription) -> None:
        """Insert or replace a subscription."""
        await upsert.insert_or_replace(self._connection, subscriptions, asdict(subscription))

    async def delete(self, user_id: int) -> bool:
        """Delete the subscription and all alerts of a user, and return whether there were any."""
        ended = [await self._connection.execute(end, {"user": user_id}) for end in (DELETE, DELETE_ALERTS)]
        return any(result.rowcount for result in ended)

    async def count(self) -> int:
        """Return the number of subscribers."""
        return int((await self._connection.execute(COUNT)).scalar_one())

    async def find_quiet(self, user_ids: Collection[int], now: datetime) -> frozenset[int]:
        """Return which of these users have quiet hours now, in their own time zones."""
        quiet = set[int]()
        for these in upsert.split_into_batches(user_ids):
            for user_id, zone, start, end in await self._connection.execute(QUIET, {"these": these}):
                if is_quiet(now, zone_of(zone), start, end):
                    quiet.add(user_id)
        return frozenset(quiet)

    async def find_due(self, now: datetime, limit: int = 500) -> tuple[Subscription, ...]:
        """Return the subscriptions whose daily quote is due, the earliest first."""
        found = await self._connection.execute(DUE, {"now": now, "limit": limit})
        return encryption.read_rows(self._vault, subscriptions, found.mappings(), _subscription)

    async def set_next_daily(self, user_id: int, due_at: datetime, next_at: datetime | None) -> bool:
        """Replace the due time `due_at` of the daily quote. Return False if it has changed since it was read."""
        these = {"user": user_id, "due_at": due_at}
        return (await self._connection.execute(SET_NEXT_DAILY.values(next_daily_at=next_at), these)).rowcount == 1

    async def clear_daily_quote(self, user_id: int) -> None:
        """End a daily quote that can't be sent because its row can't be read."""
        await self._connection.execute(CLEAR_DAILY, {"user": user_id})

    async def find_alerts(self, user_id: int) -> tuple[RateAlert, ...]:
        """Return the alerts of a user, oldest first."""
        found = await self._connection.execute(ALERTS_OF, {"user": user_id})
        return encryption.read_rows(self._vault, rate_alerts, found.mappings(), _alert)

    async def get_alert(self, alert_id: str) -> RateAlert | None:
        """Return the alert with this id, of any user, or None."""
        row = (await self._connection.execute(ALERT, {"id": alert_id})).mappings().first()
        return encryption.read_row(self._vault, rate_alerts, dict(row), _alert) if row else None

    async def save_alert(self, alert: RateAlert) -> None:
        """Insert or replace an alert."""
        await upsert.insert_or_replace(self._connection, rate_alerts, asdict(alert))

    async def delete_alert(self, alert_id: str) -> bool:
        """Delete an alert, and return whether there was one."""
        return (await self._connection.execute(DELETE_ALERT, {"id": alert_id})).rowcount == 1

    async def start_cooldown(self, alert_id: str, now: datetime, until: datetime) -> bool:
        """Start the cooldown of an alert. Return False if it is in one, or has expired."""
        these = {"alert": alert_id, "now": now}
        return (await self._connection.execute(START_COOLDOWN.values(cooldown_until=until), these)).rowcount == 1

    async def find_active_alerts(self, now: datetime) -> tuple[RateAlert, ...]:
        """Return the alerts that aren't in a cooldown and haven't expired."""
        found = await self._connection.execute(ACTIVE_ALERTS, {"now": now})
        return encryption.read_rows(self._vault, rate_alerts, found.mappings(), _alert)

    async def delete_expired(self, expired_before: datetime) -> int:
        """Delete alerts that expired before then, and return how many."""
        return (await self._connection.execute(DELETE_EXPIRED, {"now": expired_before})).rowcount


def _quote(known: dict[str, Any]) -> Quote:
    return Quote(**known)


def _subscription(known: dict[str, Any]) -> Subscription:
    return Subscription(**known)


def _alert(known: dict[str, Any]) -> RateAlert:
    return RateAlert(**known)
