"""Started broadcasts: their messages go to the outbox a few at a time, and operators pause, resume and stop them.

The broadcast's row holds the operators' decision. If two operators press at once, only the first press has an effect,
and the second operator sees the current status. Operators can press in any process. The leader carries it out: it adds
messages to the outbox, takes back those that wait, and ends the broadcast.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from bot.broadcasts.buttons import DeliveryAction
from bot.broadcasts.messages import ReaderMessages, reader_notifications
from bot.broadcasts.model import (
    RETRIED,
    Broadcast,
    BroadcastStatus,
    DeliveryStatus,
    Progress,
    record_decision,
)
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository, UnsentMessage
from bot.broadcasts.screens.confirmed import show_progress
from bot.broadcasts.service import BroadcastService
from bot.core.zones import PRESUMED
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import translator_for
from bot.infra.outbox.model import KEEP_SENT
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, TryLater
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

RUNNING, PAUSED, STOPPED, DONE = (
    BroadcastStatus.RUNNING,
    BroadcastStatus.PAUSED,
    BroadcastStatus.STOPPED,
    BroadcastStatus.DONE,
)
DECISIONS = {
    DeliveryAction.PAUSE: ({RUNNING}, PAUSED),
    DeliveryAction.RESUME: ({PAUSED}, RUNNING),
    DeliveryAction.STOP: ({RUNNING, PAUSED}, STOPPED),
}
"""Decision of an operator -> the statuses that allow it, and the status after it."""

AHEAD_SECONDS = 3.0
"""For how long messages are in the outbox ahead of the rate limit. Price alerts wait behind them."""

CHECK_SECONDS = 1.0


class DeliveryService:
    """Start, pause, resume, stop and retry broadcasts.

    Args:
        infra: the database with broadcasts and their messages, and the time.
        messages: sends the messages.
        per_second: the expected messages a second.
        on_change: is called when the status of a broadcast has changed.
    """

    def __init__(
        self,
        infra: Infra,
        messages: ReaderMessages,
        *,
        per_second: float,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._wake_bulk = infra.database, infra.clock, infra.wake_bulk
        self._messages = messages
        self._ahead = math.ceil(per_second * AHEAD_SECONDS)
        self._on_change = on_change
        self.changed: set[str] = set()
        """The broadcasts whose live message may be out of date."""

    async def begin(self, broadcast: Broadcast) -> Broadcast | None:
        """Start a broadcast. Return None if it has changed since it was read."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            size = sum((await DeliveryRepository(tx).count_readers(broadcast.audience, now)).values())
            begun = await BroadcastRepository(tx).save(replace(broadcast, status=RUNNING, started_at=now, size=size))
            if begun is not None:
                await BroadcastRepository(tx).set_next_reader(begun.id, 0)
        if begun is not None:
            log.info("broadcast_started", broadcast=begun.id, size=size)
            self._mark_changed(begun.id)
        return begun

    async def decide(self, broadcast_id: str, action: DeliveryAction, by: int) -> bool:
        """Pause, resume or stop a broadcast, or send what is unknown again. Return whether its status allows that."""
        if action is DeliveryAction.RETRY_UNKNOWN:
            return await self._retry_unknown(broadcast_id, by)
        allowed, status = DECISIONS[action]
        return await self._change(broadcast_id, allowed, by=by, status=status)

    async def get_progress(self, broadcast_id: str) -> Progress | None:
        """Return the progress of a broadcast; None if it hasn't started."""
        async with self._database.reading() as tx:
            broadcast = await BroadcastRepository(tx).get(broadcast_id)
            if broadcast is None or broadcast.started_at is None:
                return None
            progress = await DeliveryRepository(tx).read_progress(broadcast, self._clock.now())
        return replace(progress, is_resting=self._messages.is_resting)

    async def find_started(self) -> tuple[Broadcast, ...]:
        """Return the broadcasts that have started and not ended."""
        async with self._database.reading() as tx:
            found = await BroadcastRepository(tx).find_open()
        return tuple(each for each in found if each.started_at is not None)

    async def save_live_message(self, broadcast_id: str, message_id: int) -> None:
        """Save the id of the message that shows the progress."""
        await self._change(broadcast_id, BroadcastStatus, message_id=message_id)

    async def advance(self) -> None:
        """Carry out what operators decided, and what is left to do. Only the leader calls this."""
        started = await self.find_started()
        for each in started:
            if each.status is not RUNNING:
                self._messages.call_off(each.id)
        async with self._database.reading() as tx:
            unsent = await DeliveryRepository(tx).find_unsent()
        for each in started:
            await self._advance(each, [message for message in unsent if message.broadcast_id == each.id])
        if any(each.status is RUNNING for each in started):
            self._wake_bulk.wake_here()

    async def _advance(self, broadcast: Broadcast, unsent: Collection[UnsentMessage]) -> None:
        now = self._clock.now()
        is_running = broadcast.status is RUNNING
        room = self._ahead - sum(each.due_at <= now for each in unsent)
        if not unsent and (broadcast.status is STOPPED or (is_running and broadcast.next_reader is None)):
            await self._end(broadcast)
        elif is_running and broadcast.next_reader is not None and room > 0 and not self._messages.is_resting:
            async with self._database.transaction() as tx:
                await self._add_messages(tx, broadcast, room)
        elif not is_running and unsent:
            async with self._database.transaction() as tx:
                first = await DeliveryRepository(tx).take_back([each.id for each in unsent])
                if first is not None and (broadcast.next_reader is None or first < broadcast.next_reader):
                    await BroadcastRepository(tx).set_next_reader(broadcast.id, first)

    async def _add_messages(self, tx: Transaction, broadcast: Broadcast, room: int) -> None:
        """Add the messages of the next readers to the outbox. They are only sent while the broadcast is running."""
        readers = await DeliveryRepository(tx).find_readers(broadcast, room)
        await OutboxRepository(tx).add(reader_notifications(broadcast, readers, self._clock.now()))
        next_reader = readers[-1] + 1 if len(readers) == room else None
        await BroadcastRepository(tx).set_next_reader(broadcast.id, next_reader)

    async def _end(self, broadcast: Broadcast) -> None:
        """Save the report, unless an operator has decided something else at this moment."""
        now = self._clock.now()
        status = DONE if broadcast.status is RUNNING else STOPPED
        async with self._database.transaction() as tx:
            counts = dict((await DeliveryRepository(tx).read_progress(broadcast, now)).counts)
            if status is DONE:
                counts.pop(DeliveryStatus.WAITING, None)  # they have unsubscribed since the start
            report = {str(each): count for each, count in counts.items()}
            if await BroadcastRepository(tx).save(replace(broadcast, status=status, ended_at=now, report=report)):
                tx.on_commit.append(partial(self._mark_changed, broadcast.id))
                log.info("broadcast_ended", broadcast=broadcast.id, status=str(status), **report)

    def _mark_changed(self, broadcast_id: str) -> None:
        self.changed.add(broadcast_id)
        self._on_change()

    async def _retry_unknown(self, broadcast_id: str, by: int) -> bool:
        """Send the broadcast again to the subscribers whose result is unknown, if there are any.

        An ended broadcast can't be opened again once messages of it can have been deleted: they say who got it.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            broadcast = await BroadcastRepository(tx).lock(broadcast_id)
            if broadcast is None or broadcast.status not in {RUNNING, PAUSED, DONE}:
                return False
            if broadcast.ended_at is not None and (broadcast.started_at or now) < now - KEEP_SENT:
                return False
            if not await DeliveryRepository(tx).retry_unknown(broadcast_id, now):
                return False
            status = RUNNING if broadcast.status is DONE else broadcast.status
            await BroadcastRepository(tx).save(replace(broadcast, status=status, ended_at=None, report=None))
            await record_decision(tx, by, broadcast_id, RETRIED, now)
        self._mark_changed(broadcast_id)
        return True

    async def _change(
        self, broadcast_id: str, allowed: Iterable[BroadcastStatus], *, by: int | None = None, **changes: object
    ) -> bool:
        """Save changes of a broadcast that has started, if its status allows them.

        `by` is the operator who decided them. A change without `by` doesn't update the live message.
        """
        async with self._database.transaction() as tx:
            broadcast = await BroadcastRepository(tx).lock(broadcast_id)
            if broadcast is None or broadcast.started_at is None or broadcast.status not in allowed:
                return False
            changed = replace(broadcast, **changes)  # type: ignore[arg-type]  # its fields
            await BroadcastRepository(tx).save(changed)
            if by is not None:
                await record_decision(tx, by, broadcast_id, str(changed.status), self._clock.now())
                tx.on_commit.append(partial(self._mark_changed, broadcast_id))
        return True


class BroadcastWorker:
    """Start due broadcasts, and keep those that have started going."""

    def __init__(self, broadcasts: BroadcastService, deliveries: DeliveryService) -> None:
        self._broadcasts = broadcasts
        self._deliveries = deliveries

    async def tick(self) -> float:
        """Start what is due, carry on what has started, and return the seconds until the next tick."""
        if not await self._broadcasts.is_any_open():
            return CHECK_SECONDS
        for broadcast in await self._broadcasts.collect_due():
            ready = await self._broadcasts.prepare(broadcast)
            if ready is not None:
                await self._deliveries.begin(ready)
        await self._deliveries.advance()
        return CHECK_SECONDS


EDIT_SECONDS: Final = 3.0
"""Seconds between two edits of a live message. Telegram allows one message a second in a chat, and the operator uses
the same chat."""

COUNTING_SHARE: Final = 0.05
"""The part of the time that counting may take. The results of a million readers are counted more rarely."""

MAX_RECOVERED: Final = 20
"""How many of the newest broadcasts are shown again when a process begins to lead."""


class LiveMessages:
    """Keep the live messages up to date. They have a worker of their own, because Telegram may delay it."""

    def __init__(self, infra: Infra, deliveries: DeliveryService) -> None:
        self._infra = infra
        self._deliveries = deliveries
        self._shown: dict[str, Progress] = {}

    async def begin_to_lead(self) -> None:
        """Show the broadcasts that ended recently again. The leader before this one may have left them out of date."""
        self._shown.clear()
        async with self._infra.database.reading() as tx:
            newest = await BroadcastRepository(tx).newest(MAX_RECOVERED)
        self._deliveries.changed.update(each.id for each in newest if each.started_at and each.ended_at)

    async def tick(self) -> float:
        """Show what has changed, and return the seconds until the next tick."""
        began = time.monotonic()
        changed = self._deliveries.changed
        changed.update(each.id for each in await self._deliveries.find_started() if not self._is_still(each))
        for broadcast_id in sorted(changed):
            progress = await self._deliveries.get_progress(broadcast_id)
            if progress is None or progress == self._shown.get(broadcast_id) or await self._show(progress):
                changed.discard(broadcast_id)
        return max(EDIT_SECONDS, (time.monotonic() - began) / COUNTING_SHARE)

    def _is_still(self, broadcast: Broadcast) -> bool:
        """Return whether a broadcast is paused, and has been shown since its last message."""
        shown = self._shown.get(broadcast.id)
        is_paused = broadcast.status is BroadcastStatus.PAUSED
        return is_paused and shown is not None and not shown.per_second and shown.broadcast == broadcast

    async def _show(self, progress: Progress) -> bool:
        """Show the progress. Return whether it is shown, or can't be because the operator can't be reached."""
        broadcast = progress.broadcast
        message_id = await self._edit_or_send(progress)
        if message_id is None:
            return False
        if message_id and message_id != broadcast.message_id:
            await self._deliveries.save_live_message(broadcast.id, message_id)
        self._shown[broadcast.id] = progress
        if progress.is_final:
            del self._shown[broadcast.id]
        return True

    async def _edit_or_send(self, progress: Progress) -> int | None:
        """Edit the message or send a new one, and return its id.

        Return 0 if the operator can't be reached, and None if the attempt should be repeated later.
        """
        broadcast, messenger = progress.broadcast, self._infra.messenger
        chat_id = broadcast.chat_id or broadcast.operator_id
        async with self._infra.database.reading() as tx:
            user = await UserRepository(tx).get_if_readable(chat_id)
        t = translator_for(self._infra.translations, user)
        screen = show_progress(t, progress, user.zone if user else PRESUMED)
        if broadcast.message_id is not None:
            edited = await messenger.edit_text(
                chat_id, broadcast.message_id, screen.text, screen.keyboard, priority="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return None if isinstance(edited, TryLater) else broadcast.message_id
        sent = await messenger.send_text(chat_id, screen.text, screen.keyboard, priority="talk")
        if isinstance(sent, TryLater):
            return None
        return (sent.message_id or 0) if isinstance(sent, Delivered) else 0
