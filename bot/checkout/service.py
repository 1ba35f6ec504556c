"""Begin, answer, cancel, expire and resume drafts, and place the order that a confirmed one becomes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog

from bot.checkout.draft import (
    IDLE_LIMIT,
    DraftOfChat,
    DraftStatus,
    OrderDraft,
    Step,
    refuse,
)
from bot.checkout.flow import is_complete
from bot.checkout.notifications import draft_expired_notification
from bot.checkout.repository import DraftRepository
from bot.core.clock import Clock
from bot.core.errors import Rejection, Remark
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import Finish, no_job
from bot.orders.order import Order, payer_in_chat
from bot.orders.placement.service import ConfirmationOutdated, OrderService, PlaceOrder
from bot.rates.model import Estimate
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.repository import UserRepository

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

    async def begin(self, draft: OrderDraft, update_id: int) -> OrderDraft:
        """Save `draft` as the chat's open draft. That cancels the present one."""
        draft = replace(draft, last_update_id=update_id)
        async with self._database.transaction() as tx:
            open_draft = await DraftRepository(tx).open_of(draft.chat_id)
            if open_draft is not None:
                await DraftRepository(tx).save(replace(open_draft, status=DraftStatus.CANCELLED))
            if not await DraftRepository(tx).add(draft):
                raise RuntimeError("a chat has opened two drafts at once")
        return draft

    async def save(self, draft: OrderDraft, update_id: int) -> OrderDraft | None:
        """Save an answer and return the draft, or None if the draft has changed since it was read."""
        draft = replace(draft, last_update_id=update_id, expires_at=self._clock.now() + IDLE_LIMIT)
        async with self._database.transaction() as tx:
            return await DraftRepository(tx).save(draft)

    async def record_refusal(self, draft: OrderDraft, why: Rejection | Remark) -> OrderDraft:
        """Record for support why an answer was refused or doubted, and return the draft with it."""
        refusal = refuse(draft.step, why, self._clock.now())
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
                if error.is_unknown:
                    raise
                await DraftRepository(tx).set_aside(draft_id)
                log.error("unreadable_draft_closed", draft=draft_id)  # noqa: TRY400  as above
                return False
            if draft is None or draft.status is not DraftStatus.OPEN or draft.expires_at > now:
                return False
            saved = await DraftRepository(tx).save(replace(draft, status=DraftStatus.EXPIRED))
            if saved is not None:
                user = await UserRepository(tx).get_if_readable(draft.user_id)
                # Another feature may have asked for something since.
                asked = user.chat if user is not None and user.open_question is None else None
                message_id = asked.question_message_id if asked is not None and asked.question_can_go else None
                await OutboxRepository(tx).add([draft_expired_notification(saved, now, message_id)])
            await finish(tx)
        return saved is not None


async def review_draft(
    orders: OrderService, draft: OrderDraft, user_orders: Sequence[Order]
) -> tuple[OrderDraft, Estimate]:
    """Return the draft with the quote that its review shows, and what it comes to.

    `user_orders` are the user's orders that may count for their limits.

    Raises:
        ConfirmationOutdated: the draft has no amount.
        Rejection: the amount isn't allowed.
        SettlementFailure: there is no quote.
    """
    if draft.amount is None:
        raise ConfirmationOutdated
    estimated = await orders.estimate_order(user_orders, draft.method, draft.amount, draft.channel)
    return replace(draft, quote=estimated.quote), estimated


async def with_quote(catalogue: ServiceCatalogue, draft: OrderDraft) -> OrderDraft:
    """Return a draft at its review with the current quote, so that the answer and the quote are saved together.

    Without a quote, return it as it is: its review says why.
    """
    quote = await catalogue.quote_soon() if draft.step is Step.REVIEW else None
    return draft if quote is None else replace(draft, quote=quote)


async def place_order(
    orders: OrderService, draft: OrderDraft, phrase: str | None = None, reviewed_sats: int | None = None
) -> Order:
    """Place the order of a draft once, and return it. A second tap gets the order of the first.

    `phrase` and `reviewed_sats` are as in `PlaceOrder`. Raises as `OrderService.place` does, and `ConfirmationOutdated`
    for an incomplete draft. Nothing is saved then.
    """
    if draft.status is DraftStatus.PLACED:
        return await orders.get_of_draft(draft.id)
    request = replace(_request_of(draft), phrase=phrase, reviewed_sats=reviewed_sats)
    return await orders.place(request, partial(_close, draft))


async def _close(draft: OrderDraft, tx: Transaction) -> bool:
    """Save the draft as placed, and return False if something else has changed it since it was read."""
    return await DraftRepository(tx).save(replace(draft, status=DraftStatus.PLACED)) is not None


def _request_of(draft: OrderDraft) -> PlaceOrder:
    wanted = draft.request if is_complete(draft) else None
    if wanted is None or draft.quote is None:
        raise ConfirmationOutdated
    return PlaceOrder(
        payer=payer_in_chat(draft.user_id, draft.chat_id),
        draft_id=draft.id,
        wanted=wanted,
        quote=draft.quote,
        message_id=draft.message_id,
    )
