"""The same wish once more: from history, from a receipt, from an invoice that has expired, each in one tap."""

from datetime import datetime, timedelta

from bot.checkout.draft import IDLE_LIMIT, OrderDraft
from bot.checkout.reorder import is_same_wish
from bot.checkout.screens import requote
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import show_draft
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui.session import Session
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.orders.resend import may_be_sent_again
from bot.orders.status_messages import show_as_decided, show_at_the_end
from bot.orders.tracking.intervals import offer_is_over
from bot.recipients.formatting import format_method
from bot.settlement.model import PayoutMethod, SettlementFailure

DOUBLE_TAP = timedelta(seconds=5)
"""A press this soon after the same one wants nothing new: what it asked for is just being shown.

Unless it comes from what is itself the newest question: then what was shown has lost its buttons to that.
"""


async def resend(visit: Session, order: Order) -> None:
    """The same recipient and amount as a new draft at its review, whatever became of the order."""
    order = await _let_go(visit, order)
    if not order.has_recipient:
        await visit.acknowledge(visit.t.plain("again.forgotten"), alert=True)
    elif not may_be_sent_again(order, visit.desk.clock.now()):
        await visit.acknowledge(visit.t.plain("again.open" if order.phase is Phase.OPEN else "again.undecided"))
        await show_at_the_end(visit, order)
    else:
        await _wish_again(visit, order)


async def new_quote(visit: Session, order: Order) -> None:
    """The same for an order that wasn't paid. Paid meanwhile, it needs no other: then it shows how it stands."""
    if order.is_paid:
        await show_as_decided(visit, order)
    else:
        await resend(visit, order)


async def _wish_again(visit: Session, order: Order) -> None:
    """The new draft, with what is to be said before its review: once, however often the button was pressed."""
    await visit.acknowledge()
    pressed_in_question = visit.desk.prompts.is_current(visit.chat_id, visit.message_id)
    visit.message_id = None
    before, method = visit.draft, await _on_the_list(visit, order)
    wished = visit.desk.drafts.wish_of(order, method)
    if before is None or not (visit.is_replayed or is_same_wish(before, wished)):
        put_aside = before is not None and has_answers(before)
        visit.draft = await visit.desk.drafts.begin_with(wished, visit.update_id)
        visit.notice = visit.t("draft.replaced") if put_aside else None
    elif not (visit.is_replayed or pressed_in_question) and _touched_just_now(before, visit.desk.clock.now()):
        return
    gone = visit.t("again.vanished", name=format_method(order.method)) if method is None else None
    visit.notice = _joined(visit.notice, gone or await _difference(visit, order))
    await show_draft(visit)


async def _on_the_list(visit: Session, order: Order) -> PayoutMethod | None:
    """The order's destination as the live list has it now. A list that can't be had, or is empty, says nothing."""
    try:
        methods = await visit.desk.market.methods()
    except SettlementFailure:
        return order.method
    known = (method for method in methods if method.key() == order.method.key())
    return next(known, None) if methods else order.method


def _touched_just_now(draft: OrderDraft, now: datetime) -> bool:
    return now - (draft.expires_at - IDLE_LIMIT) < DOUBLE_TAP


async def _let_go(visit: Session, order: Order) -> Order:
    """An offer that is over is given up by asking for another."""
    if order.phase is not Phase.HELD or not offer_is_over(order, visit.desk.clock.now()):
        return order
    await visit.desk.orders.drop(order.reference)
    async with visit.desk.store.reading() as tx:
        return await OrderRepository(tx).get(order.reference) or order


async def _difference(visit: Session, order: Order) -> Html | None:
    if visit.draft is None:
        return None
    try:
        _, worth = await visit.desk.orders.review(visit.draft)
    except (SettlementFailure, Rejection):
        return None
    return requote.difference(visit.t, order, worth)


def _joined(*notices: Html | None) -> Html | None:
    said = [notice for notice in notices if notice is not None]
    return Html("\n".join(said)) if said else None
