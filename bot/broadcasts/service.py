"""Broadcasts between draft and delivery: previewed, confirmed, cancelled, and checked when their time comes.

Each save is over the revision that was seen, so of two operators who press at once one has done it and the other
learns that. Drafts are in `drafts.py`, broadcasts that have begun in `deliveries.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from bot.broadcasts.audit import CANCELLED, CONFIRMED, record_decision
from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.drafts import Preview, generate_id
from bot.broadcasts.model import (
    MAX_DELAY,
    QUOTE_WAIT,
    Audience,
    Broadcast,
    BroadcastStatus,
    BroadcastWarning,
    estimate_duration,
    find_warnings,
)
from bot.broadcasts.notifications import waiting_notifications
from bot.broadcasts.repository import BroadcastRepository
from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.time_of_day import next_at
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.repository import QuoteRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import Quote, SettlementFailure
from bot.users.repository import UserRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastRules:
    """The settings that broadcasts go by."""

    default_locale: str
    jump_percent: Decimal
    messages_per_second: float
    operator_ids: frozenset[int] = frozenset()


class BroadcastService:
    """The use cases around a confirmation. `on_confirmed` wakes the worker that begins what is due."""

    def __init__(
        self,
        *,
        store: Database,
        catalogue: ServiceCatalogue,
        clock: Clock,
        rules: BroadcastRules,
        on_confirmed: Callable[[], None] = lambda: None,
        on_notification: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._clock = clock
        self._rules = rules
        self._on_confirmed = on_confirmed
        self._on_notification = on_notification

    async def count_readers(self, audience: Audience) -> Mapping[str, int]:
        """Return how many readers the audience has now, by their language."""
        async with self._store.reading() as tx:
            return await DeliveryRepository(tx).count_readers(audience, self._rules.default_locale, self._clock.now())

    async def add_quote(self, broadcast: Broadcast) -> Broadcast | None:
        """Return the broadcast with its own quote, else with the newest; None where it needs one and there is none."""
        if not broadcast.is_rate or broadcast.quote is not None:
            return broadcast
        quote = await self._load_newest_quote()
        return None if quote is None else replace(broadcast, quote=quote)

    async def preview(self, broadcast: Broadcast) -> Preview | None:
        """Return what would be sent now, with the newest quote; None where the broadcast has changed since it was read.

        The quote is saved with the broadcast: an operator who confirms this preview confirms its numbers.

        Raises:
            Rejection: it shows the rate, and none was ever seen.
        """
        if not broadcast.can_be_confirmed:
            return None
        quote = await self._load_newest_quote() if broadcast.is_rate else None
        if broadcast.is_rate and quote is None:
            raise Rejection("broadcast.no_quote")
        async with self._store.transaction() as tx:
            saved = await BroadcastRepository(tx).save(replace(broadcast, quote=quote))
            return None if saved is None else await self._build_preview(tx, saved)

    async def confirm(
        self, broadcast: Broadcast, by: int, zone: tzinfo, accepted: frozenset[BroadcastWarning] = frozenset()
    ) -> Preview | Broadcast | None:
        """Confirm what was previewed: now, or for its time (of a daily one, in `zone`).

        Returns the confirmed broadcast; the preview, where there are doubts besides those it is confirmed `accepted`;
        None where it has changed since it was read, or is confirmed already.

        Raises:
            Rejection: nobody would get it, its time has passed, or it has no quote.
        """
        if not broadcast.can_be_confirmed:
            return None
        now = self._clock.now()
        async with self._store.transaction() as tx:
            preview = await self._build_preview(tx, broadcast)
            if set(preview.warnings) - accepted:
                return preview
            scheduled = _schedule(broadcast, now, zone) if broadcast.is_for_later else _schedule_now(preview, now)
            # A draft may have lain for days; its place in the list is where it became a broadcast.
            created_at = now if broadcast.confirmed_at is None else broadcast.created_at
            confirmed = await BroadcastRepository(tx).save(
                replace(scheduled, created_at=created_at, confirmed_at=now, confirmed_by=by, chat_id=by)
            )
            if confirmed is not None:
                await record_decision(tx, by, broadcast.id, CONFIRMED, now)
        self._on_confirmed()
        return confirmed

    async def cancel(self, broadcast: Broadcast, by: int) -> Broadcast | None:
        """Cancel what hasn't begun, a daily one for good; None where it has changed since it was read, or has begun."""
        if not broadcast.can_be_cancelled:
            return None
        now = self._clock.now()
        async with self._store.transaction() as tx:
            stopped = replace(broadcast, status=BroadcastStatus.STOPPED, ended_at=now, report={})
            saved = await BroadcastRepository(tx).save(stopped)
            if saved is not None:
                await record_decision(tx, by, broadcast.id, CANCELLED, now)
        return saved

    async def collect_due(self) -> tuple[Broadcast, ...]:
        """Return those whose time has come, a daily one as that of the day. Pass each to `prepare` before it begins."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            due = await _find_due(tx, now)
        if all(each.daily_minute is None for each in due):
            return due
        async with self._store.transaction() as tx:
            for daily in await _find_due(tx, now):
                if daily.daily_minute is not None:
                    await _create_for_today(tx, daily, daily.daily_minute, now)
            return tuple([each for each in await _find_due(tx, now) if each.daily_minute is None])

    async def prepare(self, broadcast: Broadcast) -> Broadcast | None:
        """Return the broadcast (not saved) with the quote that it is sent with, if it can begin now.

        Return None where it can't: it waits for a fresh quote, or is paused now and the operators are asked.
        """
        now = self._clock.now()
        delay = now - (broadcast.starts_at or now)
        if delay > MAX_DELAY:
            await self._pause_and_ask(broadcast, (BroadcastWarning.LATE,))
            return None
        if not broadcast.is_rate:
            return broadcast
        if broadcast.quote is None:
            return await self._add_current_quote(broadcast, now, delay)
        # Its numbers were confirmed, perhaps despite their age; but a bot that was away must not tell them much later.
        if delay <= QUOTE_WAIT or not broadcast.quote.is_stale(now):
            return broadcast
        await self._pause_and_ask(broadcast, (BroadcastWarning.LATE,))
        return None

    async def _add_current_quote(self, broadcast: Broadcast, now: datetime, delay: timedelta) -> Broadcast | None:
        quote = await self._load_newest_quote()
        async with self._store.reading() as tx:
            last = await _load_last_quote(tx)
        warnings = (
            (BroadcastWarning.NO_QUOTE,) if quote is None else find_warnings(quote, last, now, self._rules.jump_percent)
        )
        if not warnings:
            return replace(broadcast, quote=quote)
        can_pass_soon = not {BroadcastWarning.STALE, BroadcastWarning.NO_QUOTE}.isdisjoint(warnings)
        if not can_pass_soon or delay > QUOTE_WAIT:
            await self._pause_and_ask(broadcast, warnings)
        return None

    async def _pause_and_ask(self, broadcast: Broadcast, warnings: tuple[BroadcastWarning, ...]) -> None:
        """Pause it and ask the operators, in one transaction."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            paused = await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.PAUSED, quote=None))
            if paused is not None:
                await OutboxRepository(tx).add(waiting_notifications(paused, self._rules.operator_ids, warnings, now))
        self._on_notification()

    async def _build_preview(self, tx: Transaction, broadcast: Broadcast) -> Preview:
        now, rules = self._clock.now(), self._rules
        readers = await DeliveryRepository(tx).count_readers(broadcast.audience, rules.default_locale, now)
        last = await _load_last_quote(tx)
        duration = estimate_duration(sum(readers.values()), rules.messages_per_second)
        if broadcast.quote is None or broadcast.is_for_later:
            return Preview(broadcast, readers, duration)
        warnings = find_warnings(broadcast.quote, last, now, rules.jump_percent)
        return Preview(broadcast, readers, duration, warnings, last)

    async def _load_newest_quote(self) -> Quote | None:
        """Return the service's quote, else the last that was recorded."""
        try:
            return await self._catalogue.quote()
        except SettlementFailure:
            async with self._store.reading() as tx:
                return await QuoteRepository(tx).latest()


def _schedule(broadcast: Broadcast, now: datetime, zone: tzinfo) -> Broadcast:
    starts_at = broadcast.starts_at
    if broadcast.daily_minute is not None:
        starts_at = next_at(broadcast.daily_minute, zone, now)
    if starts_at is None or starts_at <= now:
        raise Rejection("broadcast.time_passed")
    return replace(broadcast, status=BroadcastStatus.SCHEDULED, starts_at=starts_at, quote=None)


def _schedule_now(preview: Preview, now: datetime) -> Broadcast:
    broadcast = preview.broadcast
    if not preview.size:
        raise Rejection("broadcast.nobody")
    if broadcast.is_rate and broadcast.quote is None:
        raise Rejection("broadcast.no_quote")
    return replace(broadcast, status=BroadcastStatus.SCHEDULED, starts_at=now)


async def _find_due(tx: Transaction, now: datetime) -> tuple[Broadcast, ...]:
    scheduled = [
        each for each in await BroadcastRepository(tx).in_progress() if each.status is BroadcastStatus.SCHEDULED
    ]
    return tuple(each for each in scheduled if (each.starts_at or now) <= now)


async def _create_for_today(tx: Transaction, daily: Broadcast, minute: int, now: datetime) -> None:
    """Create the broadcast of the day, and set when the next is due. One long past its time is left out."""
    operator = await UserRepository(tx).get_if_readable(daily.operator_id)
    zone = operator.zone if operator is not None else PRESUMED
    moved = await BroadcastRepository(tx).save(replace(daily, starts_at=next_at(minute, zone, now)))
    if moved is not None and now - (daily.starts_at or now) <= MAX_DELAY:
        of_today = replace(daily, id=generate_id(), revision=0, daily_minute=None, series=daily.id, created_at=now)
        await BroadcastRepository(tx).add(of_today)


async def _load_last_quote(tx: Transaction) -> Quote | None:
    last = await BroadcastRepository(tx).last_with_quote()
    return last.quote if last is not None else None
