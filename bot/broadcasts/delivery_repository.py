"""Read and write deliveries: who gets which broadcast, and with what result."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, func, insert, literal, or_, select, update

from bot.broadcasts.model import Audience, Broadcast, Delivery, DeliveryStatus
from bot.broadcasts.tables import IS_CLAIMED_DELIVERY, IS_TO_SEND, deliveries
from bot.core.locales import FALLBACK, LOCALES, REGION_MARKS, codes_of
from bot.infra.db import upsert
from bot.infra.db.repository import Repository
from bot.rates.tables import subscriptions
from bot.users.tables import users


class DeliveryRepository(Repository[Delivery]):
    """The deliveries of all broadcasts."""

    table = deliveries

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
        of_broadcast = deliveries.c.broadcast_id == broadcast_id
        waiting = select(deliveries.c.user_id).where(IS_TO_SEND, of_broadcast, deliveries.c.user_id.not_in(excluded))
        first = waiting.order_by(deliveries.c.user_id).limit(limit)
        claimed = (
            update(deliveries)
            .where(of_broadcast, deliveries.c.user_id.in_(first.scalar_subquery()), IS_TO_SEND)
            .values(status=DeliveryStatus.SENDING, at=at)
            .returning(deliveries)
        )
        return tuple(sorted(await self._find(claimed), key=lambda each: each.user_id))

    async def record(self, results: Sequence[Delivery]) -> None:
        """Save the results of claimed deliveries: their status, time and failure."""
        known = [
            {
                "broadcast": each.broadcast_id,
                "user": each.user_id,
                "status": each.status,
                "at": each.at,
                "failure": each.failure,
            }
            for each in results
        ]
        one = update(deliveries).where(
            deliveries.c.broadcast_id == bindparam("broadcast"), deliveries.c.user_id == bindparam("user")
        )
        if known:
            await self._connection.execute(one, known)

    async def release(self, broadcast_id: str, user_ids: Collection[int]) -> None:
        """Mark claimed deliveries as waiting again. Call this only if they surely weren't sent."""
        claimed = update(deliveries).where(deliveries.c.broadcast_id == broadcast_id, IS_CLAIMED_DELIVERY)
        for batch in upsert.split_into_batches(user_ids):
            await self._change(claimed.where(deliveries.c.user_id.in_(batch)).values(status=DeliveryStatus.WAITING))

    async def mark_interrupted(self, broadcast_id: str) -> int:
        """Mark claimed deliveries as unknown after a crash, and return how many they were."""
        claimed = update(deliveries).where(deliveries.c.broadcast_id == broadcast_id, IS_CLAIMED_DELIVERY)
        return await self._change(claimed.values(status=DeliveryStatus.UNKNOWN))

    async def retry_unknown(self, broadcast_id: str) -> int:
        """Mark deliveries with an unknown result as waiting again, and return how many they were."""
        of_broadcast = update(deliveries).where(deliveries.c.broadcast_id == broadcast_id)
        unknown = of_broadcast.where(deliveries.c.status == DeliveryStatus.UNKNOWN)
        return await self._change(unknown.values(status=DeliveryStatus.WAITING))

    async def counts(self, broadcast_id: str) -> Mapping[DeliveryStatus, int]:
        """Return status -> count, without statuses that no delivery has."""
        of_broadcast = select(deliveries.c.status, func.count()).where(deliveries.c.broadcast_id == broadcast_id)
        found = await self._connection.execute(of_broadcast.group_by(deliveries.c.status))
        return {DeliveryStatus(status): int(count) for status, count in found}

    async def with_status(self, broadcast_id: str, status: DeliveryStatus, limit: int = 100) -> tuple[Delivery, ...]:
        """Return the deliveries with this status, in the order of the users' ids."""
        of_broadcast = select(deliveries).where(deliveries.c.broadcast_id == broadcast_id)
        with_status = of_broadcast.where(deliveries.c.status == status)
        return await self._find(with_status.order_by(deliveries.c.user_id).limit(limit))

    def _to_value(self, known: dict[str, Any]) -> Delivery:
        return Delivery(**{**known, "status": DeliveryStatus(known["status"])})


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
