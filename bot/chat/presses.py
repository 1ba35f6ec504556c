"""Buttons under an order's messages: they work at any point of any conversation, and only for whose order it is."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from telegram import Update
from telegram.ext import ApplicationHandlerStop

from bot.actions.news import subject_of
from bot.actions.ports import SettlementFailure
from bot.chat import data, words
from bot.chat.asking import show_draft
from bot.chat.desk import VISIT, Visit
from bot.chat.screen import Screen
from bot.chat.screens import card, outcome, requote
from bot.chat.screens.parts import has_answers, new_row
from bot.domain.errors import Rejection
from bot.domain.follow import offer_is_over
from bot.domain.order import Notice, Order, Phase
from bot.i18n import Html

LOOK_GAP = timedelta(seconds=1)
"""Settlement API, 6.3: no order is asked for more than once a second."""


async def order_pressed(update: Update, _: object) -> None:
    """Find the order, see that it is this chat's, and do what the button says."""
    visit = VISIT.get()
    query = update.callback_query
    press = data.read_order_press(query.data or "") if query else None
    if press is not None:
        async with visit.desk.store.reading() as tx:
            order = await tx.orders.get(press.reference)
        if order is None or order.chat_id != visit.chat_id:
            await visit.acknowledge(visit.t.plain("stale.not_yours"), alert=True)
        else:
            await ACTIONS.get(press.action, _stale)(visit, order)
    raise ApplicationHandlerStop


async def _look(visit: Visit, order: Order) -> None:
    """Ask the service now, unless it was asked a moment ago, and bring the pressed card up to date."""
    await visit.acknowledge(visit.t.plain("card.looking"))
    now = visit.desk.clock.now()
    asked_just_now = order.looked_at is not None and now - order.looked_at < LOOK_GAP
    if order.phase is Phase.OPEN and order.service_id is not None and not asked_just_now:
        try:
            report = await visit.desk.settlement.look_up(order.service_id)
        except SettlementFailure:
            visit.notice = visit.t("card.cannot_look")
        else:
            order = await visit.desk.observer.observe(order.reference, report) or order
    await visit.update(_state(visit, order))


async def show_at_the_end(visit: Visit, order: Order) -> None:
    """Show where the order stands at the end of the chat. A card moves there: one an order is alive."""
    await visit.acknowledge()
    message_id = await visit.post(_state(visit, order))
    if message_id is None or order.phase not in {Phase.OPEN, Phase.DONE}:
        return
    async with visit.desk.store.transaction() as tx:
        before = await tx.outbox.message_of(subject_of(order), Notice.CARD, visit.chat_id)
        await tx.outbox.replace_message(subject_of(order), Notice.CARD, visit.chat_id, message_id)
    if before is not None and before != message_id:
        await visit.desk.messenger.delete(visit.chat_id, before, lane="talk")


async def _accept(visit: Visit, order: Order) -> None:
    opened = await visit.desk.orders.accept_price(order.reference)
    if opened is None:
        await _stale(visit, order)
        return
    await visit.acknowledge()
    await visit.update(Screen(visit.t("order.accepted", line=words.order_line(visit.t, opened))))


async def _drop(visit: Visit, order: Order) -> None:
    if not await visit.desk.orders.drop(order.reference):
        await _stale(visit, order)
        return
    await visit.acknowledge()
    text = visit.t("order.dropped", line=words.order_line(visit.t, order))
    await visit.update(Screen(text, (new_row(visit.t),)))


async def _again(visit: Visit, order: Order) -> None:
    again = await visit.desk.orders.try_again(order.reference)
    if again is None:
        await _stale(visit, order)
        return
    await visit.acknowledge()
    await visit.update(Screen(visit.t("order.trying_again", line=words.order_line(visit.t, again))))


async def _requote(visit: Visit, order: Order) -> None:
    """The same wish as a new draft, at today's quote, with the difference to the last price said."""
    order = await _let_go(visit, order)
    if order.is_paid or not _can_be_wished_anew(visit, order):
        await _stale(visit, order)
        return
    await visit.acknowledge()
    visit.message_id = None
    if not visit.is_replayed:
        put_aside = visit.draft is not None and has_answers(visit.draft)
        visit.draft = await visit.desk.drafts.from_order(order, visit.update_id)
        visit.notice = _joined(visit.t("draft.replaced") if put_aside else None, await _difference(visit, order))
    await show_draft(visit)


def _can_be_wished_anew(visit: Visit, order: Order) -> bool:
    """Not while the order is still being decided, or its invoice can be paid: one wish, one invoice."""
    if order.phase is Phase.OPEN:
        return card.is_lapsed(order, visit.desk.clock.now())
    return order.phase in {Phase.REFUSED, Phase.UNSHOWN, Phase.DONE}


async def _let_go(visit: Visit, order: Order) -> Order:
    """An offer that is over is given up by asking for another."""
    if order.phase is not Phase.HELD or not offer_is_over(order, visit.desk.clock.now()):
        return order
    await visit.desk.orders.drop(order.reference)
    async with visit.desk.store.reading() as tx:
        return await tx.orders.get(order.reference) or order


async def _difference(visit: Visit, order: Order) -> Html | None:
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


async def _help(visit: Visit, order: Order) -> None:
    if not visit.desk.help.is_offered:
        await _stale(visit, order)
        return
    asked = await visit.desk.help.ask(order)
    visit.desk.orders.on_news()
    await visit.acknowledge()
    key = "help.asked" if asked else "help.asked_before"
    await visit.post(Screen(visit.t(key, line=words.order_line(visit.t, order))))


async def _stale(visit: Visit, order: Order) -> None:
    """The moment of this button has passed: say so, and show where the order stands now."""
    await visit.acknowledge(visit.t.plain("stale.order"))
    await show_at_the_end(visit, order)


def _state(visit: Visit, order: Order) -> Screen:
    now = visit.desk.clock.now()
    return outcome.state(visit.t, order, now, visit.zone, help_offered=visit.desk.help.is_offered)


ACTIONS: dict[str, Callable[[Visit, Order], Awaitable[None]]] = {
    "look": _look,
    "card": show_at_the_end,
    "accept": _accept,
    "drop": _drop,
    "again": _again,
    "requote": _requote,
    "help": _help,
}
