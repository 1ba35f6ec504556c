"""Begin orders from known answers: the same order again, a new quote, or a saved recipient."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.checkout import screens
from bot.checkout.answers import with_recipient
from bot.checkout.draft import IDLE_LIMIT, OrderDraft, repeat_order
from bot.checkout.handlers import DraftHandlers
from bot.checkout.open_draft import DRAFT, draft_of, get_user_orders, is_replayed
from bot.checkout.service import review_draft
from bot.checkout.steps.recipient import find_method
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.i18n import Html
from bot.orders.order import Order, Phase
from bot.orders.placement.service import OrderService
from bot.orders.repository import OrderRepository
from bot.orders.status_handlers import StatusMessages
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import PayoutMethod
from bot.users.session import Session

DOUBLE_TAP: Final = timedelta(seconds=5)
"""A press this soon after the same press is a double tap: the answer is already being shown.

The exception is a press on the newest question, because the answer has lost its buttons to that question.
"""


class RepeatHandlers:
    """Begin drafts from orders and from saved recipients."""

    def __init__(
        self,
        *,
        database: Database,
        catalogue: ServiceCatalogue,
        orders: OrderService,
        status_messages: StatusMessages,
        draft_handlers: DraftHandlers,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._orders = orders
        self._status_messages = status_messages
        self._draft_handlers = draft_handlers

    async def resend(self, session: Session, order: Order) -> None:
        """Begin a draft with the order's recipient and amount, at its review."""
        order = await self._drop_expired_offer(session, order)
        if not order.has_recipient:
            await session.acknowledge(session.t.plain("checkout.repeat.forgotten"), alert=True)
        elif not order.may_be_sent_again(session.now):
            await session.acknowledge(
                session.t.plain("checkout.repeat.open" if order.phase is Phase.OPEN else "checkout.repeat.undecided")
            )
            await self._status_messages.resend_status_message(session, order)
        else:
            await self._begin_again(session, order)

    async def get_new_quote(self, session: Session, order: Order) -> None:
        """Begin a draft for an order that wasn't paid. If it has been paid since, show its status instead."""
        if order.is_paid:
            await self._status_messages.reject_outdated_button(session, order)
        else:
            await self.resend(session, order)

    async def send_to_recipient(
        self, session: Session, recipient: SavedRecipient, amount: Amount | None = None
    ) -> None:
        """Begin a draft for a saved recipient and ask what is missing. A second press finds the draft of the first."""
        if not is_replayed(session) and not _is_begun(session, recipient, amount):
            method = await find_method(self._catalogue, recipient.method)
            if method is None:
                session.add_notice(session.t("checkout.recipient.vanished", name=format_method(recipient.method)))
            draft = draft_of(session)
            if method is not None:
                draft = with_recipient(replace(draft, amount=amount), recipient, method)
            await self._draft_handlers.begin(session, draft)
        await self._draft_handlers.show(session)

    async def _begin_again(self, session: Session, order: Order) -> None:
        """Begin the draft, and show what has changed, also after a second press."""
        await session.acknowledge()
        pressed_in_question = session.is_newest_question
        session.message_id = None
        before, method = session[DRAFT], await self._current_method(order)
        repeated = repeat_order(order, method, session.now)
        if before is None or not (is_replayed(session) or before.asks_the_same_as(repeated)):
            await self._draft_handlers.begin(session, repeated, keeps_way=True)
        elif not (is_replayed(session) or pressed_in_question) and _was_just_changed(before, session.now):
            return
        gone = session.t("orders.repeat.vanished", name=format_method(order.method)) if method is None else None
        session.add_notice(gone or await self._difference(session, order))
        await self._draft_handlers.show(session)

    async def _current_method(self, order: Order) -> PayoutMethod | None:
        """Return the order's destination from the live list.

        If the list can't be read or is empty, return the destination as it was.
        """
        try:
            methods = await self._catalogue.methods()
        except SettlementFailure:
            return order.method
        known = (method for method in methods if method.key() == order.method.key())
        return next(known, None) if methods else order.method

    async def _drop_expired_offer(self, session: Session, order: Order) -> Order:
        """Drop the order if its offer has expired: a request for a new quote gives the offer up."""
        if order.phase is not Phase.NEEDS_CONFIRMATION or not order.is_offer_over(session.now):
            return order
        await self._orders.drop(order.reference)
        async with self._database.reading() as tx:
            return await OrderRepository(tx).get(order.reference) or order

    async def _difference(self, session: Session, order: Order) -> Html | None:
        draft = session[DRAFT]
        if draft is None:
            return None
        try:
            _, estimated = await review_draft(self._orders, draft, await get_user_orders(session))
        except (SettlementFailure, Rejection):
            return None
        return screens.difference(session.t, order, estimated)


def _is_begun(session: Session, recipient: SavedRecipient, amount: Amount | None) -> bool:
    draft = session[DRAFT]
    if draft is None or draft.method is None or draft.amount != amount:
        return False
    wanted = (recipient.method.code, recipient.method.name, recipient.number)
    return (draft.method.code, draft.method.name, draft.number) == wanted


def _was_just_changed(draft: OrderDraft, now: datetime) -> bool:
    return now - (draft.expires_at - IDLE_LIMIT) < DOUBLE_TAP
