"""Show a full recipient to a support agent for a minute, with a reason in the audit log, and mask it again.

First we send a masked message. Then we save its id, the reason and the end in one transaction. Only then we edit the
message to show the recipient. So even if the process is killed, a row names each recipient that can be seen.

The table lists what has to be masked: after its minute, or when its agent loses the right to see it. The leader looks
for it, and adds a job in the agent's chat. The process that has the chat shows and masks recipients there, one after
the other, so the mask always comes last.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.shutdown import finish_tasks
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Translator, translator_for
from bot.infra.outbox.model import DeliveryOutcome, Sent, Undeliverable
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.inbound.repository import InboxItem, JobHandler
from bot.infra.telegram.outbound.sender import Gone, Invalid
from bot.infra.telegram.outbound.sender import Outcome as CallOutcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.settlement.errors import OrderNotFound, SettlementFailure
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.model import SHOWN_FOR, Reveal
from bot.support.repository import RevealRepository
from bot.support.screens import reveals as screens
from bot.support.service_orders import MARK, ServiceOrder, ServiceOrders, Subject, find_subject
from bot.users.model import User
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

MASK: Final = "mask-reveal"
"""The job that masks a recipient in the agent's chat. Its argument is the id of the reveal."""

PAUSE_WHILE_SHOWN: Final = 1.0
PAUSE_WHILE_NONE: Final = 30.0
MASK_RETRY: Final = Backoff(first=2.0, longest=900.0)
"""Pauses between jobs for one recipient. We can't mask anything for an agent who has blocked the bot."""

AddJob = Callable[[int, str, str], Awaitable[None]]
"""Adds a job: its chat, its kind and its argument."""


Show = Callable[[Translator, User | None], Screen]


class RevealMessages:
    """Show and mask a full recipient in Telegram. The calls have one priority, so they arrive in order."""

    def __init__(self, infra: Infra) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._translations = infra.translations

    async def open(self, staff_id: int, order: Subject) -> DeliveryOutcome:
        """Send the message without the recipient. It can't be forwarded or copied."""
        screen = await self._screen(staff_id, lambda t, _: screens.show_placeholder(t, order))
        return delivery_outcome(await self._messenger.send_text(staff_id, screen.text, priority="talk", protected=True))

    async def show(self, reveal: Reveal, order: Subject) -> DeliveryOutcome:
        """Edit the message to show the full recipient."""
        edited = await self._edit(reveal, lambda t, who: screens.show_recipient(t, reveal, order, who))
        return Undeliverable("the message is gone") if isinstance(edited, Gone) else delivery_outcome(edited)

    async def mask(self, reveal: Reveal, order: Subject | None) -> DeliveryOutcome:
        """Edit the message to mask the recipient. If that fails, delete the message."""
        if reveal.message_id is None:
            return Sent()
        edited = await self._edit(reveal, lambda t, _: screens.show_masked(t, reveal, order))
        if not isinstance(edited, Gone | Invalid):
            return delivery_outcome(edited)
        return delivery_outcome(await self._messenger.delete(reveal.staff_id, reveal.message_id, priority="talk"))

    async def _edit(self, reveal: Reveal, show: Show) -> CallOutcome:
        if reveal.message_id is None:
            return Gone()
        screen = await self._screen(reveal.staff_id, show)
        return await self._messenger.edit_text(
            reveal.staff_id, reveal.message_id, screen.text, screen.keyboard, priority="talk"
        )

    async def _screen(self, staff_id: int, show: Show) -> Screen:
        async with self._database.reading() as tx:
            user = await UserRepository(tx).get(staff_id)
        return show(translator_for(self._translations, user), user)


class MaskingService:
    """Mask revealed recipients.

    `add_job` adds a job in an agent's chat. `elapsed` is a monotonic clock. `on_change` wakes the worker that calls
    `mask_due`.
    """

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        screen: RevealMessages,
        add_job: AddJob,
        elapsed: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._add_job = add_job
        self._elapsed = elapsed
        self._on_change = on_change
        self._in_progress: set[str] = set()
        self._shown_here: set[str] = set()
        self._seen_at: dict[str, float] = {}
        self._jobs: dict[str, tuple[float, int]] = {}
        """When the next job may be added, and how many were."""

        self._tasks: set[asyncio.Task[Any]] = set()

    def jobs(self) -> Mapping[str, JobHandler]:
        """Return what the job does."""
        return {MASK: self.run_job}

    def record_shown(self, reveal: Reveal) -> None:
        """Record that this process shows a recipient, which it masks before it stops. Wake the worker."""
        self._shown_here.add(reveal.id)
        self._on_change()

    async def begin_to_lead(self) -> None:
        """Forget when this process added jobs when it led before."""
        self._seen_at.clear()
        self._jobs.clear()

    @contextmanager
    def lock(self, reveal: Reveal) -> Iterator[bool]:
        """Lock a reveal in this process, so that only the block shows or masks it. Yield False if it is locked."""
        if reveal.id in self._in_progress:
            yield False
            return
        self._in_progress.add(reveal.id)
        try:
            yield True
        finally:
            self._in_progress.discard(reveal.id)

    def is_due(self, reveal: Reveal) -> bool:
        """Return whether a reveal has to be masked. The monotonic clock counts from the first call for a reveal."""
        lasted = self._elapsed() - self._seen_at.setdefault(reveal.id, self._elapsed())
        may_see = reveal.staff_id in self._staff_chat.agent_ids
        is_late = lasted >= SHOWN_FOR.total_seconds() or reveal.is_over(self._clock.now())
        return is_late or not may_see

    async def mask(self, reveal: Reveal, *, is_kept: bool = True) -> None:
        """Mask a reveal, unless it is locked. After a failure, `mask_due` adds a job for it at growing intervals.

        With `is_kept=False`, the row isn't saved as masked.
        """
        with self.lock(reveal) as is_ours:
            if not is_ours:
                return
            async with self._database.reading() as tx:
                order = await find_subject(tx, reveal.reference)
            outcome = await self._screen.mask(reveal, order)
            if not isinstance(outcome, Sent):
                log.warning("mask_retry_scheduled", reveal=reveal.id, order=reveal.reference)
            elif is_kept:
                async with self._database.transaction() as tx:
                    await RevealRepository(tx).save(replace(reveal, masked_at=self._clock.now()))
                self._shown_here.discard(reveal.id)

    async def mask_due(self) -> float:
        """Add a job for each reveal that has to be masked, and return the seconds until the next call."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
            deleted = {each.id for each in shown if await _is_user_deleted(tx, each)}
        ids = {each.id for each in shown}
        self._seen_at = {key: at for key, at in self._seen_at.items() if key in ids}
        self._jobs = {key: added for key, added in self._jobs.items() if key in ids}
        for reveal in shown:
            if self.is_due(reveal) or reveal.id in deleted:
                await self._add_job_for(reveal)
        return PAUSE_WHILE_SHOWN if shown else PAUSE_WHILE_NONE

    async def run_job(self, job: InboxItem) -> None:
        """Mask the reveal of a job, unless it was masked since. If it fails, the worker adds the job again."""
        async with self._database.reading() as tx:
            reveal = await RevealRepository(tx).get(job.body)
        if reveal is not None and reveal.masked_at is None:
            await self.mask(reveal)

    async def mask_due_of(self, staff_id: int) -> None:
        """Mask the due reveals of one agent. Earlier attempts can have failed."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
        for reveal in shown:
            if reveal.staff_id == staff_id and self.is_due(reveal):
                await self.mask(reveal)

    async def close(self, within: float) -> None:
        """Mask the reveals that this process has shown before it stops, within so many seconds.

        They aren't saved as masked, because an earlier request can still show a recipient. The leader has them masked
        again. It also has those masked that other processes have shown.
        """
        try:
            async with self._database.reading() as tx:
                shown = await RevealRepository(tx).unmasked()
        except StoreDown:
            return
        for reveal in shown:
            if reveal.id in self._shown_here:
                self._track(asyncio.create_task(self.mask(reveal, is_kept=False)))
        await finish_tasks(lambda: self._tasks, within)

    async def _add_job_for(self, reveal: Reveal) -> None:
        due_at, count = self._jobs.get(reveal.id, (0.0, 0))
        if self._elapsed() < due_at:
            return
        self._jobs[reveal.id] = self._elapsed() + MASK_RETRY.after(count + 1), count + 1
        await self._add_job(reveal.staff_id, MASK, reveal.id)

    def _track(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._remove_task)

    def _remove_task(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # The row isn't saved as masked, so the leader finds it.
            log.error("mask_failed", error=type(error).__name__)


async def _is_user_deleted(tx: Transaction, reveal: Reveal) -> bool:
    """Return whether the order's user or its recipient was deleted."""
    order = await find_subject(tx, reveal.reference)
    return order is None or not order.has_recipient


class RevealService:
    """Reveal recipients. `masking` masks them in time."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        screen: RevealMessages,
        masking: MaskingService,
        service_orders: ServiceOrders,
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._masking = masking
        self._service_orders = service_orders

    async def find_order(self, staff_id: int, reference: str) -> Subject:
        """Return the order, if this agent can see its recipient. The service isn't asked.

        `reference` is ours, or the service's id after its mark. If we have that order, ours is returned.

        Raises:
            Rejection: there is no such order, its recipient was deleted, or `staff_id` isn't a support agent.
        """
        async with self._database.reading() as tx:
            return await self._find_allowed(tx, staff_id, reference)

    async def reveal(
        self, staff_id: int, reference: str, reason: str, *, question: int | None = None, answered: User | None = None
    ) -> bool:
        """Show the recipient in the agent's private chat. Return False if it is shown there already.

        Args:
            staff_id: the agent.
            reference: as in `find_order`.
            reason: why the agent needs the recipient.
            question: the message whose button was pressed. A press that is handled again after a crash shows nothing.
            answered: the agent who typed the reason, to be saved with it, so that the answer isn't taken twice.

        Raises:
            Rejection: as `find_order`; or the message couldn't be sent, an earlier recipient couldn't be masked, or the
                service couldn't be asked.
        """
        order = await self.find_order(staff_id, reference)
        if isinstance(order, ServiceOrder):
            order = await self._read(staff_id, order)
        reference = order.reference
        await self._masking.mask_due_of(staff_id)
        async with self._database.reading() as tx:
            mine = [each for each in await RevealRepository(tx).unmasked() if each.staff_id == staff_id]
            reveal_id = _reveal_id(staff_id, reference, question)
            earlier = await RevealRepository(tx).get(reveal_id)
        if any(self._masking.is_due(each) for each in mine):
            raise Rejection("support.reveal.still_to_mask")
        shown = next((each for each in mine if each.reference == reference), None)
        if shown is None and earlier is not None:
            return True
        kept = shown or await self._send_placeholder(reveal_id, order, staff_id, reason, answered)
        if not await self._show(kept, order):
            raise Rejection("support.reveal.not_shown")
        return shown is None

    async def hide(self, staff_id: int, reveal_id: str) -> bool:
        """Mask a reveal early. Return False if it isn't the agent's, or is masked already."""
        async with self._database.reading() as tx:
            reveal = await RevealRepository(tx).get(reveal_id)
        if reveal is None or reveal.staff_id != staff_id or reveal.masked_at is not None:
            return False
        await self._masking.mask(reveal)
        return True

    async def _read(self, staff_id: int, order: ServiceOrder) -> Subject:
        """Read the service's order. If it is ours by now, return our order, with our rules."""
        try:
            found = await self._service_orders.read(order.service_id)
        except OrderNotFound:
            raise Rejection("support.staff.gone") from None
        except SettlementFailure:
            raise Rejection("support.service_order.not_revealed") from None
        if found is None:
            return await self.find_order(staff_id, order.reference)
        if found.is_of_deleted_user:
            raise Rejection("support.reveal.forgotten")
        if not found.has_recipient:
            raise Rejection("support.service_order.masked")
        return found

    async def _find_allowed(self, tx: Transaction, staff_id: int, reference: str) -> Subject:
        if staff_id not in self._staff_chat.agent_ids:
            raise Rejection("support.staff.not_yours")
        order = await find_subject(tx, reference)
        if order is None:
            raise Rejection("support.staff.gone")
        if not order.has_recipient:
            raise Rejection("support.reveal.forgotten")
        return order

    async def _send_placeholder(
        self, reveal_id: str, order: Subject, staff_id: int, reason: str, answered: User | None
    ) -> Reveal:
        """Send the masked message. Save the reveal with its reason."""
        sent = await self._screen.open(staff_id, order)
        if not isinstance(sent, Sent) or sent.message_id is None:
            raise Rejection("support.reveal.not_shown")
        now = self._clock.now()
        reveal = Reveal(
            id=reveal_id,
            reference=order.reference,
            staff_id=staff_id,
            message_id=sent.message_id,
            at=now,
            until=now + SHOWN_FOR,
        )
        async with self._database.transaction() as tx:
            await RevealRepository(tx).add(reveal)
            is_ours = isinstance(order, Order)
            about = f"order:{order.reference}" if is_ours else f"service_order:{order.reference.removeprefix(MARK)}"
            whom = order.user_id
            await record_audit(tx, staff_id, AuditAction.REVEALED, about, now, user_id=whom, detail=reason)
            if answered is not None:
                await UserRepository(tx).save(answered)
        return reveal

    async def _show(self, reveal: Reveal, read: Subject) -> bool:
        """Edit the message to show the recipient, under a lock, so that the edit can't arrive after the mask.

        `read` is the order as it was just read. Ours is read again, because its recipient may have been deleted.
        """
        self._masking.record_shown(reveal)
        with self._masking.lock(reveal) as is_ours:
            if not is_ours:
                return True
            async with self._database.reading() as tx:
                kept = await RevealRepository(tx).get(reveal.id)
                order = await find_subject(tx, reveal.reference)
            if kept is None or kept.masked_at is not None or self._masking.is_due(kept):
                return False
            if order is None or not order.has_recipient:
                return False
            shown = await self._screen.show(kept, read if isinstance(order, ServiceOrder) else order)
        self._masking.record_shown(reveal)
        return isinstance(shown, Sent)


def _reveal_id(staff_id: int, reference: str, question: int | None) -> str:
    """Return an id of 16 hexadecimal digits, always the same for a question. It fits into the button that hides it."""
    if question is None:
        return secrets.token_hex(8)
    return hashlib.sha256(f"{staff_id}:{reference}:{question}".encode()).hexdigest()[:16]
