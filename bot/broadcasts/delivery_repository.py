"""Read and write deliveries: who gets which broadcast, and with what result."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Integer, bindparam, case, func, insert, literal, or_, select, update

from bot.broadcasts.model import Audience, Broadcast, Delivery, DeliveryStatus
from bot.broadcasts.tables import IS_CLAIMED_DELIVERY, IS_TO_SEND, deliveries
from bot.core.locales import FALLBACK, LOCALES, REGION_MARKS, codes_of
from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.rates.tables import subscriptions
from bot.users.tables import users

BROADCAST = bindparam("broadcast", type_=deliveries.c.broadcast_id.type)
LIMIT: Any = bindparam("limit", type_=Integer())
USER_IDS: Any = bindparam("user_ids", expanding=True)
EXCLUDED: Any = bindparam("excluded", expanding=True)
OF_BROADCAST = deliveries.c.broadcast_id == BROADCAST

NEXT = (
    select(deliveries.c.user_id)
    .where(IS_TO_SEND, OF_BROADCAST, deliveries.c.user_id.not_in(EXCLUDED))
    .order_by(deliveries.c.user_id)
    .limit(LIMIT)
)
CLAIM = (
    update(deliveries)
    .where(OF_BROADCAST, deliveries.c.user_id.in_(NEXT.scalar_subquery()), IS_TO_SEND)
    .values(status=DeliveryStatus.SENDING, at=bindparam("now", type_=deliveries.c.at.type))
    .returning(deliveries)
)
RECORD = (
    update(deliveries)
    .where(OF_BROADCAST, deliveries.c.user_id == bindparam("user", type_=deliveries.c.user_id.type))
    .values(
        status=bindparam("new_status"),
        at=bindparam("now", type_=deliveries.c.at.type),
        failure=bindparam("why", type_=deliveries.c.failure.type),
    )
)
RELEASE = (
    update(deliveries)
    .where(OF_BROADCAST, deliveries.c.user_id.in_(USER_IDS), IS_CLAIMED_DELIVERY)
    .values(status=DeliveryStatus.WAITING)
)
MARK_INTERRUPTED = update(deliveries).where(OF_BROADCAST, IS_CLAIMED_DELIVERY).values(status=DeliveryStatus.UNKNOWN)
RETRY_UNKNOWN = (
    update(deliveries)
    .where(OF_BROADCAST, deliveries.c.status == DeliveryStatus.UNKNOWN)
    .values(status=DeliveryStatus.WAITING)
)
COUNTS = select(deliveries.c.status, func.count()).where(OF_BROADCAST).group_by(deliveries.c.status)
WITH_STATUS = (
    select(deliveries)
    .where(OF_BROADCAST, deliveries.c.status == bindparam("status"))
    .order_by(deliveries.c.user_id)
    .limit(LIMIT)
)


class DeliveryRepository:
    """The deliveries of all broadcasts."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def create(self, broadcast: Broadcast, now: datetime) -> int:
        """Add a waiting delivery for each reachable subscriber in the audience, and return how many were added."""
        locale = _locale_read()
        readers = (
            select(literal(broadcast.id), users.c.id, locale, literal(str(DeliveryStatus.WAITING)))
            .join_from(users, subscriptions, subscriptions.c.user_id == users.c.id)
            .where(*_audience_conditions(broadcast.audience, locale, now))
        )
        written = await self._connection.execute(
            insert(deliveries).from_select(["broadcast_id", "user_id", "locale", "status"], readers)
        )
        return written.rowcount

    async def count_readers(self, audience: Audience, now: datetime) -> Mapping[str, int]:
        """Return how many subscribers the audience has now, by the language they read."""
        locale = _locale_read().label("read_locale")
        readers = (
            select(locale, func.count())
            .join_from(users, subscriptions, subscriptions.c.user_id == users.c.id)
            .where(*_audience_conditions(audience, locale, now))
            .group_by(locale)
        )
        return {str(locale): int(count) for locale, count in await self._connection.execute(readers)}

    async def claim(
        self, broadcast_id: str, limit: int, at: datetime, excluded: Collection[int] = ()
    ) -> tuple[Delivery, ...]:
        """Mark waiting deliveries as being sent, and return them in the order of the users' ids.

        Deliveries to the `excluded` users stay waiting.
        """
        known = {"broadcast": broadcast_id, "limit": limit, "now": at, "excluded": tuple(excluded)}
        found = await self._connection.execute(CLAIM, known)
        claimed = encryption.read_rows(self._vault, deliveries, found.mappings(), _delivery)
        return tuple(sorted(claimed, key=lambda each: each.user_id))

    async def record(self, deliveries: Sequence[Delivery]) -> None:
        """Save the results of claimed deliveries: their status, time and failure."""
        results = [
            {
                "broadcast": each.broadcast_id,
                "user": each.user_id,
                "new_status": each.status,
                "now": each.at,
                "why": each.failure,
            }
            for each in deliveries
        ]
        if results:
            await self._connection.execute(RECORD, results)

    async def release(self, broadcast_id: str, user_ids: Collection[int]) -> None:
        """Mark claimed deliveries as waiting again. Call this only if they surely weren't sent."""
        for batch in upsert.split_into_batches(user_ids):
            await self._connection.execute(RELEASE, {"broadcast": broadcast_id, "user_ids": batch})

    async def mark_interrupted(self, broadcast_id: str) -> int:
        """Mark claimed deliveries as unknown after a crash, and return how many they were."""
        return (await self._connection.execute(MARK_INTERRUPTED, {"broadcast": broadcast_id})).rowcount

    async def retry_unknown(self, broadcast_id: str) -> int:
        """Mark deliveries with an unknown result as waiting again, and return how many they were."""
        return (await self._connection.execute(RETRY_UNKNOWN, {"broadcast": broadcast_id})).rowcount

    async def counts(self, broadcast_id: str) -> Mapping[DeliveryStatus, int]:
        """Return status -> count, without statuses that no delivery has."""
        found = await self._connection.execute(COUNTS, {"broadcast": broadcast_id})
        return {DeliveryStatus(status): int(count) for status, count in found}

    async def with_status(self, broadcast_id: str, status: DeliveryStatus, limit: int = 100) -> tuple[Delivery, ...]:
        """Return the deliveries with this status, in the order of the users' ids."""
        found = await self._connection.execute(
            WITH_STATUS, {"broadcast": broadcast_id, "status": status, "limit": limit}
        )
        return encryption.read_rows(self._vault, deliveries, found.mappings(), _delivery)


def _locale_read() -> ColumnElement[str]:
    """Return the locale in which a user reads, as `i18n.choose_locale` picks it.

    It is the user's choice, else the language of their app, else English.
    """
    chosen_then_of_app = (users.c.locale, users.c.language_code)
    return case(
        *((_matches_locale(tag, locale), literal(locale)) for tag in chosen_then_of_app for locale in LOCALES),
        else_=literal(FALLBACK),
    )


def _matches_locale(tag: ColumnElement[str | None], locale: str) -> ColumnElement[bool]:
    """Return whether `tag` is a code of `locale`, with or without a region. Near languages don't count."""
    begins = (
        func.substr(func.lower(tag), 1, len(code) + 1).in_([code, *(f"{code}{mark}" for mark in REGION_MARKS)])
        for code in codes_of(locale)
    )
    return or_(*begins)


def _audience_conditions(audience: Audience, locale: ColumnElement[str], now: datetime) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [users.c.blocked_at.is_(None), users.c.deletion_requested_at.is_(None)]
    if audience.locale is not None:
        conditions.append(locale == audience.locale)
    if audience.active_days is not None:
        since = now - timedelta(days=audience.active_days)
        conditions.append(or_(users.c.last_seen_at >= since, users.c.created_at >= since))
    return conditions


def _delivery(row: Mapping[Any, Any]) -> Delivery:
    return Delivery(**{**row, "status": DeliveryStatus(row["status"])})
