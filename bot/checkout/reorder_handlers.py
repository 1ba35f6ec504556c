"""The same wish once more: from history, from a receipt, from an invoice that has expired, each in one tap."""

from datetime import datetime, timedelta

from bot.checkout.confirmation import review_draft
from bot.checkout.draft import IDLE_LIMIT, OrderDraft
from bot.checkout.open_draft import DRAFT, is_replayed
from bot.checkout.reorder import is_same_wish
from bot.checkout.screens import requote
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import show_draft
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui.session import Session
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.recipients.formatting import format_method
from bot.settlement.model import PayoutMethod, SettlementFailure

DOUBLE_TAP = timedelta(seconds=5)
"""A press this soon after the same one wants nothing new: what it asked for is just being shown.

Unless it comes from what is itself the newest question: then what was shown has lost its buttons to that.
"""


async def resend(session: Session, order: Order) -> None:
    """The same recipient and amount as a new draft at its review, whatever became of the order."""
    order = await _let_go(session, order)
    if not order.has_recipient:
        await session.acknowledge(session.t.plain("again.forgotten"), alert=True)
    elif not order.may_be_sent_again(session.now):
        await session.acknowledge(session.t.plain("again.open" if order.phase is Phase.OPEN else "again.undecided"))
        await session.desk.status_messages.resend_status_message(session, order)
    else:
        await _wish_again(session, order)


async def new_quote(session: Session, order: Order) -> None:
    """The same for an order that wasn't paid. Paid meanwhile, it needs no other: then it shows how it stands."""
    if order.is_paid:
        await session.desk.status_messages.show_as_decided(session, order)
    else:
        await resend(session, order)


async def _wish_again(session: Session, order: Order) -> None:
    """The new draft, with what is to be said before its review: once, however often the button was pressed."""
    await session.acknowledge()
    pressed_in_question = session.is_newest_question
    session.message_id = None
    before, method = session[DRAFT], await _on_the_list(session, order)
    wished = session.desk.drafts.wish_of(order, method)
    if before is None or not (is_replayed(session) or is_same_wish(before, wished)):
        put_aside = before is not None and has_answers(before)
        session[DRAFT] = await session.desk.drafts.begin_with(wished, session.update_id)
        session.notice = session.t("draft.replaced") if put_aside else None
    elif not (is_replayed(session) or pressed_in_question) and _touched_just_now(before, session.desk.clock.now()):
        return
    gone = session.t("again.vanished", name=format_method(order.method)) if method is None else None
    session.notice = _joined(session.notice, gone or await _difference(session, order))
    await show_draft(session)


async def _on_the_list(session: Session, order: Order) -> PayoutMethod | None:
    """The order's destination as the live list has it now. A list that can't be had, or is empty, says nothing."""
    try:
        methods = await session.desk.market.methods()
    except SettlementFailure:
        return order.method
    known = (method for method in methods if method.key() == order.method.key())
    return next(known, None) if methods else order.method


def _touched_just_now(draft: OrderDraft, now: datetime) -> bool:
    return now - (draft.expires_at - IDLE_LIMIT) < DOUBLE_TAP


async def _let_go(session: Session, order: Order) -> Order:
    """An offer that is over is given up by asking for another."""
    if order.phase is not Phase.NEEDS_CONFIRMATION or not order.offer_is_over(session.now):
        return order
    await session.desk.orders.drop(order.reference)
    async with session.desk.store.reading() as tx:
        return await OrderRepository(tx).get(order.reference) or order


async def _difference(session: Session, order: Order) -> Html | None:
    draft = session[DRAFT]
    if draft is None:
        return None
    try:
        _, worth = await review_draft(session.desk.orders, draft)
    except (SettlementFailure, Rejection):
        return None
    return requote.difference(session.t, order, worth)


def _joined(*notices: Html | None) -> Html | None:
    said = [notice for notice in notices if notice is not None]
    return Html("\n".join(said)) if said else None
