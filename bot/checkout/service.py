"""Begin, answer, cancel, expire and resume drafts."""

from collections.abc import Callable
from dataclasses import replace

import structlog

from bot.checkout.draft import (
    IDLE_LIMIT,
    DraftOfChat,
    DraftStatus,
    OrderDraft,
    Step,
    new_draft,
    refuse,
    without_method,
)
from bot.checkout.notifications import draft_expired_notification
from bot.checkout.repository import DraftRepository
from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.jobs.repository import Finish, no_job
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.order import Order
from bot.settlement.model import PayoutMethod

log = structlog.get_logger(__name__)


class DraftService:
    """Save drafts. Each save names the update that it answers, so an update that is replayed changes nothing."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, draft_id: str) -> OrderDraft | None:
        """Return the draft with this id in any status, or None."""
        async with self._database.reading() as tx:
            return await DraftRepository(tx).get(draft_id)

    async def begin(
        self, user_id: int, chat_id: int, update_id: int, fill: Callable[[OrderDraft], OrderDraft] | None = None
    ) -> OrderDraft:
        """Begin a draft with what `fill` knows. That cancels the open draft of this chat."""
        draft = new_draft(chat_id=chat_id, user_id=user_id, now=self._clock.now())
        return await self._replace_open(replace(fill(draft) if fill else draft, last_update_id=update_id))

    def repeat_order(self, order: Order, method: PayoutMethod | None) -> OrderDraft:
        """Return a draft for the same payment as `order`. It isn't saved yet.

        `method` is its destination in today's list, or None if the list no longer has it. The draft is at its review,
        or asks for another destination.

        Raises:
            ValueError: its payer may not see the recipient, or has no chat.
        """
        payer = order.payer
        if payer.user_id is None or payer.chat_id is None or order.hides_recipient:
            raise ValueError("this order can't be repeated as a draft")
        repeated = replace(
            new_draft(chat_id=payer.chat_id, user_id=payer.user_id, now=self._clock.now()),
            step=Step.REVIEW,
            method=method,
            number=order.number,
            holder=order.holder,
            holder_asked=True,
            amount=order.amount,
            channel=order.channel,
        )
        return repeated if method is not None else without_method(repeated)

    async def begin_with(self, draft: OrderDraft, update_id: int) -> OrderDraft:
        """Save `draft` as the chat's open draft. That cancels the present one."""
        return await self._replace_open(replace(draft, last_update_id=update_id))

    async def save(self, draft: OrderDraft, update_id: int) -> OrderDraft | None:
        """Save an answer and return the draft, or None if the draft has changed since it was read."""
        draft = replace(draft, last_update_id=update_id, expires_at=self._clock.now() + IDLE_LIMIT)
        async with self._database.transaction() as tx:
            return await DraftRepository(tx).save(draft)

    async def record_refusal(self, draft: OrderDraft, rejection: Rejection) -> OrderDraft:
        """Record for support why an answer was refused, and return the draft with it."""
        refusal = refuse(draft.step, rejection, self._clock.now())
        async with self._database.transaction() as tx:
            await DraftRepository(tx).record_refusal(draft, refusal)
        return replace(draft, refusal=refusal)

    async def cancel(self, draft: OrderDraft, update_id: int) -> OrderDraft | None:
        """Cancel the draft, as the user asked."""
        return await self.save(replace(draft, status=DraftStatus.CANCELLED), update_id)

    async def resume(self, draft: OrderDraft, update_id: int) -> OrderDraft | None:
        """Open an expired draft again. Return None if another draft is open, or this one was cancelled or placed."""
        if draft.status is DraftStatus.OPEN:
            return draft
        if draft.status is not DraftStatus.EXPIRED:
            return None
        reopened = replace(
            draft, status=DraftStatus.OPEN, last_update_id=update_id, expires_at=self._clock.now() + IDLE_LIMIT
        )
        async with self._database.transaction() as tx:
            if await DraftRepository(tx).has_open(draft.chat_id):
                return None
            return await DraftRepository(tx).save(reopened)

    async def close_damaged(self, chat_id: int) -> None:
        """Close the open draft of a chat if it can't be read, so that its user can begin another."""
        async with self._database.transaction() as tx:
            try:
                await DraftRepository(tx).open_of(chat_id)
            except RowUnreadable:
                await DraftRepository(tx).set_open_aside(chat_id)
                log.error("unreadable_draft_closed")  # noqa: TRY400  where it was read says nothing

    async def wait_for_service(self, draft: OrderDraft, message_id: int) -> None:
        """Save that a message says that the service can't be reached. The order returns to it when it can."""
        async with self._database.transaction() as tx:
            await DraftRepository(tx).set_message(draft.id, message_id)

    async def stop_waiting(self, draft: OrderDraft) -> None:
        """Save that the draft no longer waits for the service."""
        async with self._database.transaction() as tx:
            await DraftRepository(tx).set_message(draft.id, None)

    async def waiting(self) -> tuple[DraftOfChat, ...]:
        """Return the open drafts that wait for the service."""
        async with self._database.reading() as tx:
            return await DraftRepository(tx).waiting(self._clock.now())

    async def expired(self) -> tuple[DraftOfChat, ...]:
        """Return the open drafts that are past their time."""
        async with self._database.reading() as tx:
            return await DraftRepository(tx).expired(self._clock.now())

    async def expire(self, draft_id: str, finish: Finish = no_job) -> bool:
        """Expire a draft that is still past its time, and queue the notification. Return whether it did.

        `finish` ends the job in the same transaction.

        A damaged draft is closed without a notification, because it can't be resumed.

        Raises:
            RowUnreadable: another process can read the draft.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            try:
                draft = await DraftRepository(tx).get(draft_id)
            except RowUnreadable as error:
                if error.is_for_others:
                    raise
                await DraftRepository(tx).set_aside(draft_id)
                log.error("unreadable_draft_closed", draft=draft_id)  # noqa: TRY400  as above
                return False
            if draft is None or draft.status is not DraftStatus.OPEN or draft.expires_at > now:
                return False
            saved = await DraftRepository(tx).save(replace(draft, status=DraftStatus.EXPIRED))
            if saved is not None:
                await OutboxRepository(tx).add([draft_expired_notification(saved, now)])
            await finish(tx)
        return saved is not None

    async def _replace_open(self, draft: OrderDraft) -> OrderDraft:
        async with self._database.transaction() as tx:
            open_draft = await DraftRepository(tx).open_of(draft.chat_id)
            if open_draft is not None:
                await DraftRepository(tx).save(replace(open_draft, status=DraftStatus.CANCELLED))
            if not await DraftRepository(tx).add(draft):
                raise RuntimeError("a chat has opened two drafts at once")
        return draft
