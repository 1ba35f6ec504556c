"""Read and write broadcasts, who gets them, and the results of their messages in the outbox."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, bindparam, case, delete, exists, func, literal, or_, select, update

from bot.broadcasts.model import (
    CHAT_BLOCKED,
    MAYBE_ARRIVED,
    SUBJECT,
    Audience,
    Broadcast,
    BroadcastNotification,
    BroadcastStatus,
    DeliveryStatus,
    Progress,
)
from bot.broadcasts.tables import IS_DRAFT, IS_OPEN, broadcasts
from bot.core.locales import FALLBACK, LOCALES, REGION_MARKS, codes_of
from bot.infra.db.columns import constant
from bot.infra.db.repository import Repository, once
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus, Queue
from bot.infra.outbox.tables import IS_SENDING, IS_SENT, IS_WAITING, is_unsent, outbox
from bot.rates.tables import subscriptions
from bot.settlement import json_values as nested
from bot.users.tables import users

WAS_CONFIRMED = broadcasts.c.status.not_in((BroadcastStatus.DRAFT, BroadcastStatus.DISCARDED))


class BroadcastRepository(Repository[Broadcast]):
    """The broadcasts of all operators."""

    table = broadcasts

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """Return the broadcast with this id; None if there is none."""
        with_id = once(lambda: select(broadcasts).where(broadcasts.c.id == bindparam("broadcast")))
        return await self._get(with_id, {"broadcast": broadcast_id})

    async def lock(self, broadcast_id: str) -> Broadcast | None:
        """Return the broadcast with this id. No other transaction can change it until this one ends."""
        with_id = select(broadcasts).where(broadcasts.c.id == broadcast_id)
        return await self._get(with_id.with_for_update(key_share=True))

    async def add(self, broadcast: Broadcast) -> None:
        """Add a broadcast. Do nothing if its id exists already."""
        await self._insert(broadcast)

    async def save(self, broadcast: Broadcast) -> Broadcast | None:
        """Save a broadcast and return it with its next revision. Return None if it has changed since it was read.

        Its next reader stays. The leader moves on while operators decide.
        """
        saved = replace(broadcast, revision=broadcast.revision + 1)
        seen = update(broadcasts).where(broadcasts.c.id == broadcast.id, broadcasts.c.revision == broadcast.revision)
        row = {name: value for name, value in self._seal(saved).items() if name != "next_reader"}
        return saved if await self._change(seen, row) == 1 else None

    async def set_next_reader(self, broadcast_id: str, next_reader: int | None) -> None:
        """Save the lowest reader for whom no message is in the outbox yet. None if all have one."""
        of_broadcast = update(broadcasts).where(broadcasts.c.id == broadcast_id)
        await self._change(of_broadcast.values(next_reader=next_reader))

    async def draft_of(self, operator_id: int) -> Broadcast | None:
        """Return the newest open draft of an operator."""
        drafts = select(broadcasts).where(broadcasts.c.operator_id == operator_id, IS_DRAFT)
        return await self._find_first(drafts.order_by(broadcasts.c.created_at.desc(), broadcasts.c.id).limit(1))

    async def newest(self, limit: int = 10, offset: int = 0) -> tuple[Broadcast, ...]:
        """Return confirmed broadcasts, newest first."""
        confirmed = select(broadcasts).where(WAS_CONFIRMED)
        newest = confirmed.order_by(broadcasts.c.created_at.desc(), broadcasts.c.id)
        return await self._find(newest.limit(limit).offset(offset))

    async def count(self) -> int:
        """Return the number of confirmed broadcasts."""
        return await self._count(WAS_CONFIRMED)

    async def find_open(self) -> tuple[Broadcast, ...]:
        """Return the confirmed broadcasts that haven't ended, ordered by the time they start.

        They are scheduled, running or paused, or an operator has just stopped them.
        """
        is_open = once(lambda: select(broadcasts).where(IS_OPEN).order_by(broadcasts.c.starts_at, broadcasts.c.id))
        return await self._find(is_open)

    async def last_with_quote(self) -> Broadcast | None:
        """Return the broadcast with a quote that started last."""
        started = select(broadcasts).where(broadcasts.c.started_at.is_not(None), broadcasts.c.quote.is_not(None))
        return await self._find_first(started.order_by(broadcasts.c.started_at.desc()).limit(1))

    def _to_row(self, value: Broadcast) -> dict[str, Any]:
        return {**asdict(value), "quote": None if value.quote is None else nested.from_quote(value.quote)}

    def _to_value(self, known: dict[str, Any]) -> Broadcast:
        quote = None if known["quote"] is None else nested.to_quote(known["quote"])
        changed = {
            "status": BroadcastStatus(known["status"]),
            "audience": Audience(**known["audience"]),
            "quote": quote,
        }
        return Broadcast(**{**known, **changed})


RATE_SECONDS: Final = 15.0
"""The period in which the messages per second are measured, in seconds."""

_IS_REACHABLE = (users.c.blocked_at.is_(None), users.c.deletion_requested_at.is_(None))
_IS_MESSAGE = outbox.c.kind == constant(BroadcastNotification.MESSAGE)
_RESULT = case(
    (IS_SENT, DeliveryStatus.DELIVERED),
    (IS_SENDING, DeliveryStatus.SENDING),
    (IS_WAITING, DeliveryStatus.WAITING),
    (outbox.c.failure == MAYBE_ARRIVED, DeliveryStatus.UNKNOWN),
    (outbox.c.failure == CHAT_BLOCKED, DeliveryStatus.BLOCKED),
    else_=DeliveryStatus.FAILED,
)


@dataclass(frozen=True, slots=True)
class UnsentMessage:
    """A message of a broadcast that waits in the outbox or is being sent."""

    id: int
    broadcast_id: str
    due_at: datetime


class DeliveryRepository:
    """Who gets a broadcast, and its messages in the outbox."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

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

    async def find_readers(self, broadcast: Broadcast, limit: int) -> tuple[int, ...]:
        """Return the next readers, in the order of their ids. They were subscribers when the broadcast started."""
        started_at = broadcast.started_at or broadcast.created_at
        has_message = exists().where(outbox.c.subject == SUBJECT + broadcast.id, outbox.c.chat_id == users.c.id)
        readers = (
            select(users.c.id)
            .join_from(users, subscriptions, subscriptions.c.user_id == users.c.id)
            .where(
                *_audience_conditions(broadcast.audience, _locale_read(), started_at),
                users.c.id >= broadcast.next_reader,
                subscriptions.c.subscribed_at <= started_at,
                ~has_message.where(_IS_MESSAGE, outbox.c.mark == ""),
            )
        )
        return tuple((await self._connection.execute(readers.order_by(users.c.id).limit(limit))).scalars())

    async def find_unsent(self) -> tuple[UnsentMessage, ...]:
        """Return the messages of all broadcasts that wait or are being sent. Only a few are in the outbox at once."""
        in_bulk = outbox.c.queue == constant(Queue.BULK)
        unsent = select(outbox.c.id, outbox.c.subject, outbox.c.due_at).where(in_bulk, is_unsent(outbox), _IS_MESSAGE)
        found = await self._connection.execute(unsent)
        return tuple(UnsentMessage(row.id, row.subject.removeprefix(SUBJECT), row.due_at) for row in found)

    async def take_back(self, message_ids: Collection[int]) -> int | None:
        """Delete those of these messages that wait, and return the lowest reader. None if none of them waits.

        One that may have arrived isn't among them: without its row, its reader would get another.
        """
        waiting = delete(outbox).where(outbox.c.id.in_(message_ids), IS_WAITING, ~outbox.c.maybe_sent)
        return min((await self._connection.execute(waiting.returning(outbox.c.chat_id))).scalars(), default=None)

    async def record_blocked(self, message_id: int) -> None:
        """Save as the failure of a message that its chat can't be reached."""
        given_up = update(outbox).where(outbox.c.id == message_id)
        await self._connection.execute(given_up.values(failure=CHAT_BLOCKED))

    async def retry_unknown(self, broadcast_id: str, now: datetime) -> int:
        """Let the messages whose result is unknown wait again, as if they were never sent. Return how many.

        Those to users who have unsubscribed since stay unknown.
        """
        waiting = {"status": NotificationStatus.WAITING.value, "due_at": now, "attempts": 0, "failure": None}
        is_subscribed = exists().where(
            subscriptions.c.user_id == outbox.c.chat_id, users.c.id == outbox.c.chat_id, *_IS_REACHABLE
        )
        of_broadcast = update(outbox).where(outbox.c.subject == SUBJECT + broadcast_id, _IS_MESSAGE)
        unknown = of_broadcast.where(outbox.c.failure == MAYBE_ARRIVED, is_subscribed)
        return (await self._connection.execute(unknown.values(**waiting, maybe_sent=False))).rowcount

    async def read_progress(self, broadcast: Broadcast, now: datetime) -> Progress:
        """Return the progress of a broadcast: that of its report once it has ended."""
        if broadcast.report is not None:
            return Progress(broadcast, {DeliveryStatus(name): count for name, count in broadcast.report.items()})
        if broadcast.started_at is None:
            return Progress(broadcast, {})
        seconds = min((now - broadcast.started_at).total_seconds(), RATE_SECONDS)
        is_recent = outbox.c.sent_at > now - timedelta(seconds=seconds)
        results = (
            select(_RESULT.label("result"), func.count(), func.count(case((is_recent, 1))))
            .where(outbox.c.subject == SUBJECT + broadcast.id, _IS_MESSAGE)
            .group_by("result")
        )
        found = (await self._connection.execute(results)).all()
        counts = {DeliveryStatus(result): count for result, count, _ in found if result != DeliveryStatus.WAITING}
        waiting = broadcast.size - sum(counts.values())
        if waiting > 0:
            counts[DeliveryStatus.WAITING] = waiting
        recent = sum(count for *_, count in found)
        return Progress(broadcast, counts, recent / seconds if seconds >= 1 else 0.0)


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
    conditions: list[ColumnElement[bool]] = [*_IS_REACHABLE]
    if audience.locale is not None:
        conditions.append(locale == audience.locale)
    if audience.active_days is not None:
        since = now - timedelta(days=audience.active_days)
        conditions.append(or_(users.c.last_seen_at >= since, users.c.created_at >= since))
    return conditions
