"""Broadcasts until their delivery: write, preview, confirm, cancel, and check them at their start time.

A save needs the revision that was read. If two operators press at once, the second save fails and its operator sees
that. Started broadcasts are in `deliveries.py`.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from bot.broadcasts.messages import waiting_notifications
from bot.broadcasts.model import (
    CANCELLED,
    CONFIRMED,
    MAX_DELAY,
    PAGE_SIZE,
    QUOTE_WAIT,
    Audience,
    Broadcast,
    BroadcastPage,
    BroadcastStatus,
    BroadcastWarning,
    DeliveryStatus,
    Preview,
    estimate_duration,
    find_warnings,
    record_decision,
)
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository
from bot.core.errors import Rejection
from bot.core.time_of_day import next_at
from bot.core.zones import PRESUMED
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.repository import QuoteRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import Quote
from bot.users.repository import UserRepository


def generate_id() -> str:
    """Return an id that can't be guessed and is short enough for a button."""
    return secrets.token_hex(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastRules:
    """The settings of broadcasts."""

    jump_percent: Decimal
    messages_per_second: float
    operator_ids: frozenset[int] = frozenset()
    pays_telegram: bool = False
    """Whether to pay Telegram for messages above its free rate."""


class BroadcastService:
    """Write, preview, confirm, cancel and list broadcasts, and prepare those that are due.

    `on_confirmed` wakes the worker that starts due broadcasts.
    """

    def __init__(
        self,
        infra: Infra,
        catalogue: ServiceCatalogue,
        rules: BroadcastRules,
        *,
        on_confirmed: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._catalogue = catalogue
        self._rules = rules
        self._on_confirmed = on_confirmed

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """Return a broadcast of any status."""
        async with self._database.reading() as tx:
            return await BroadcastRepository(tx).get(broadcast_id)

    async def open(self, operator_id: int) -> Broadcast:
        """Return the operator's open draft. Create a draft about the rate if there is none."""
        async with self._database.transaction() as tx:
            draft = await BroadcastRepository(tx).draft_of(operator_id)
            if draft is None:
                draft = self._create(operator_id)
                await BroadcastRepository(tx).add(draft)
        return draft

    async def copy(self, broadcast: Broadcast, operator_id: int) -> Broadcast:
        """Create a draft with the same text, picture and audience. The operator's open draft is discarded."""
        copied = replace(
            self._create(operator_id),
            is_rate=broadcast.is_rate,
            texts=broadcast.texts,
            picture=broadcast.picture,
            audience=broadcast.audience,
        )
        async with self._database.transaction() as tx:
            draft = await BroadcastRepository(tx).draft_of(operator_id)
            if draft is not None:
                await BroadcastRepository(tx).save(replace(draft, status=BroadcastStatus.DISCARDED))
            await BroadcastRepository(tx).add(copied)
        return copied

    async def change(self, broadcast: Broadcast) -> Broadcast | None:
        """Save a changed draft. Return None if it has changed since it was read, or is no longer a draft.

        Its quote is removed, because the preview no longer shows what would be sent.
        """
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._database.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, quote=None, is_rate=broadcast.needs_quote))

    async def discard(self, broadcast: Broadcast) -> Broadcast | None:
        """Discard a draft. Return None if it is no longer a draft."""
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._database.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.DISCARDED))

    async def list_page(self, offset: int = 0) -> BroadcastPage:
        """Return a page of confirmed broadcasts, newest first."""
        async with self._database.reading() as tx:
            found = await BroadcastRepository(tx).newest(PAGE_SIZE, offset)
            now = self._clock.now()
            counts = {each.id: (await DeliveryRepository(tx).read_progress(each, now)).counts for each in found}
            return BroadcastPage(found, counts, offset, await BroadcastRepository(tx).count())

    async def count_deliveries(self, broadcast: Broadcast) -> Mapping[DeliveryStatus, int]:
        """Return how many of its messages have which result."""
        async with self._database.reading() as tx:
            return (await DeliveryRepository(tx).read_progress(broadcast, self._clock.now())).counts

    async def count_readers(self, audience: Audience) -> Mapping[str, int]:
        """Return how many readers the audience has now, by their language."""
        async with self._database.reading() as tx:
            return await DeliveryRepository(tx).count_readers(audience, self._clock.now())

    async def add_quote(self, broadcast: Broadcast) -> Broadcast | None:
        """Return the broadcast with its own quote, else with the newest quote.

        Return None if it needs a quote and there is none.
        """
        if not broadcast.is_rate or broadcast.quote is not None:
            return broadcast
        quote = await self._load_newest_quote()
        return None if quote is None else replace(broadcast, quote=quote)

    async def preview(self, broadcast: Broadcast) -> Preview | None:
        """Return what would be sent now, with the newest quote.

        The quote is saved with the broadcast, so an operator who confirms this preview confirms its numbers. Return
        None if the broadcast has changed since it was read.

        Raises:
            Rejection: the broadcast shows the rate, and there was never a quote.
        """
        if not broadcast.can_be_confirmed:
            return None
        quote = await self._load_newest_quote() if broadcast.is_rate else None
        if broadcast.is_rate and quote is None:
            raise Rejection("broadcasts.no_quote")
        async with self._database.transaction() as tx:
            saved = await BroadcastRepository(tx).save(replace(broadcast, quote=quote))
            return None if saved is None else await self._build_preview(tx, saved)

    async def confirm(
        self, broadcast: Broadcast, by: int, zone: tzinfo, accepted: frozenset[BroadcastWarning] = frozenset()
    ) -> Preview | Broadcast | None:
        """Confirm a previewed broadcast, for now or for its start time.

        Args:
            broadcast: the broadcast as it was previewed.
            by: the operator.
            zone: the time zone of a daily broadcast's time.
            accepted: the warnings that the operator accepts.

        Returns:
            The confirmed broadcast. A preview if there are other warnings than the accepted ones. None if the broadcast
            has changed since it was read, or is confirmed already.

        Raises:
            Rejection: it has no readers, its time has passed, or it has no quote.
        """
        if not broadcast.can_be_confirmed:
            return None
        now = self._clock.now()
        async with self._database.transaction() as tx:
            preview = await self._build_preview(tx, broadcast)
            if set(preview.warnings) - accepted:
                return preview
            scheduled = _schedule(broadcast, now, zone) if broadcast.is_for_later else _schedule_now(preview, now)
            # A draft can be days old. The list shows a broadcast at the time when it was first confirmed.
            created_at = now if broadcast.confirmed_at is None else broadcast.created_at
            confirmed = await BroadcastRepository(tx).save(
                replace(scheduled, created_at=created_at, confirmed_at=now, confirmed_by=by, chat_id=by)
            )
            if confirmed is not None:
                await record_decision(tx, by, broadcast.id, CONFIRMED, now)
        self._on_confirmed()
        return confirmed

    async def cancel(self, broadcast: Broadcast, by: int) -> Broadcast | None:
        """Cancel a broadcast that hasn't started, or end a daily broadcast.

        Return None if the broadcast has changed since it was read, or has started.
        """
        if not broadcast.can_be_cancelled:
            return None
        now = self._clock.now()
        async with self._database.transaction() as tx:
            stopped = replace(broadcast, status=BroadcastStatus.STOPPED, ended_at=now, report={})
            saved = await BroadcastRepository(tx).save(stopped)
            if saved is not None:
                await record_decision(tx, by, broadcast.id, CANCELLED, now)
        return saved

    async def is_any_open(self) -> bool:
        """Return whether a broadcast is scheduled, running, paused or just stopped. Mostly there is none."""
        async with self._database.reading() as tx:
            return bool(await BroadcastRepository(tx).find_open())

    async def collect_due(self) -> tuple[Broadcast, ...]:
        """Return the due broadcasts. For each due daily broadcast, create today's.

        Pass each result to `prepare` before it starts.
        """
        now = self._clock.now()
        async with self._database.reading() as tx:
            due = await _find_due(tx, now)
        if all(each.daily_minute is None for each in due):
            return due
        async with self._database.transaction() as tx:
            for daily in await _find_due(tx, now):
                if daily.daily_minute is not None:
                    await _create_for_today(tx, daily, daily.daily_minute, now)
            return tuple([each for each in await _find_due(tx, now) if each.daily_minute is None])

    async def prepare(self, broadcast: Broadcast) -> Broadcast | None:
        """Return the broadcast with the quote that it is sent with, without saving it.

        Return None if it can't start now. Then it waits for a fresh quote, or it is paused and operators are asked.
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
        # An operator confirmed this quote, even if it was old. But it mustn't be sent much later, after a downtime.
        if delay <= QUOTE_WAIT or not broadcast.quote.is_stale(now):
            return broadcast
        await self._pause_and_ask(broadcast, (BroadcastWarning.LATE,))
        return None

    def _create(self, operator_id: int) -> Broadcast:
        return Broadcast(id=generate_id(), operator_id=operator_id, created_at=self._clock.now())

    async def _add_current_quote(self, broadcast: Broadcast, now: datetime, delay: timedelta) -> Broadcast | None:
        quote = await self._load_newest_quote()
        async with self._database.reading() as tx:
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
        """Pause the broadcast and ask the operators, in one transaction."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            paused = await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.PAUSED, quote=None))
            if paused is not None:
                await OutboxRepository(tx).add(waiting_notifications(paused, self._rules.operator_ids, warnings, now))

    async def _build_preview(self, tx: Transaction, broadcast: Broadcast) -> Preview:
        now, rules = self._clock.now(), self._rules
        readers = await DeliveryRepository(tx).count_readers(broadcast.audience, now)
        last = await _load_last_quote(tx)
        duration = estimate_duration(sum(readers.values()), rules.messages_per_second)
        if broadcast.quote is None or broadcast.is_for_later:
            return Preview(broadcast, readers, duration)
        warnings = find_warnings(broadcast.quote, last, now, rules.jump_percent)
        return Preview(broadcast, readers, duration, warnings, last)

    async def _load_newest_quote(self) -> Quote | None:
        """Return the service's quote. If the service doesn't answer, return the last recorded quote."""
        try:
            return await self._catalogue.quote()
        except SettlementFailure:
            async with self._database.reading() as tx:
                return await QuoteRepository(tx).get_latest()


def _schedule(broadcast: Broadcast, now: datetime, zone: tzinfo) -> Broadcast:
    starts_at = broadcast.starts_at
    if broadcast.daily_minute is not None:
        starts_at = next_at(broadcast.daily_minute, zone, now)
    if starts_at is None or starts_at <= now:
        raise Rejection("core.template.time_passed")
    return replace(broadcast, status=BroadcastStatus.SCHEDULED, starts_at=starts_at, quote=None)


def _schedule_now(preview: Preview, now: datetime) -> Broadcast:
    broadcast = preview.broadcast
    if not preview.size:
        raise Rejection("broadcasts.nobody")
    if broadcast.is_rate and broadcast.quote is None:
        raise Rejection("broadcasts.no_quote")
    return replace(broadcast, status=BroadcastStatus.SCHEDULED, starts_at=now)


async def _find_due(tx: Transaction, now: datetime) -> tuple[Broadcast, ...]:
    scheduled = [each for each in await BroadcastRepository(tx).find_open() if each.status is BroadcastStatus.SCHEDULED]
    return tuple(each for each in scheduled if (each.starts_at or now) <= now)


async def _create_for_today(tx: Transaction, daily: Broadcast, minute: int, now: datetime) -> None:
    """Create today's broadcast, and set when the next one is due. Create none if its time passed too long ago."""
    operator = await UserRepository(tx).get_if_readable(daily.operator_id)
    zone = operator.zone if operator is not None else PRESUMED
    moved = await BroadcastRepository(tx).save(replace(daily, starts_at=next_at(minute, zone, now)))
    if moved is not None and now - (daily.starts_at or now) <= MAX_DELAY:
        of_today = replace(daily, id=generate_id(), revision=0, daily_minute=None, series=daily.id, created_at=now)
        await BroadcastRepository(tx).add(of_today)


async def _load_last_quote(tx: Transaction) -> Quote | None:
    last = await BroadcastRepository(tx).last_with_quote()
    return last.quote if last is not None else None
