"""Buttons under an order's messages: they work at any point of any conversation, and only for whose order it is."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from telegram import Update
from telegram.ext import ApplicationHandlerStop

from bot.actions.ports import SettlementFailure
from bot.chat import data
from bot.chat.desk import VISIT, Visit
from bot.chat.flow import Context, show_draft
from bot.chat.screen import Screen
from bot.chat.screens import card, outcome
from bot.chat.screens.parts import new_row
from bot.domain.errors import Rejection
from bot.domain.order import Notice, Order, Phase
from bot.i18n import Html

LOOK_GAP = timedelta(seconds=1)
"""Settlement API, 6.3: no order is asked for more than once a second."""


async def order_pressed(update: Update, _: Context) -> None:
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
    await visit.show(_card(visit, order))


async def _card_anew(visit: Visit, order: Order) -> None:
    await visit.acknowledge()
    visit.message_id = None
    await visit.say(_state_of(visit, order))


async def _accept(visit: Visit, order: Order) -> None:
    opened = await visit.desk.orders.accept_price(order.reference)
    if opened is None:
        await _stale(visit, order)
        return
    await visit.acknowledge()
    await visit.show(Screen(visit.t("order.accepted")))


async def _drop(visit: Visit, order: Order) -> None:
    if not await visit.desk.orders.drop(order.reference):
        await _stale(visit, order)
        return
    await visit.acknowledge()
    await visit.show(Screen(visit.t("order.dropped", reference=order.reference), (new_row(visit.t),)))


async def _again(visit: Visit, order: Order) -> None:
    again = await visit.desk.orders.try_again(order.reference)
    if again is None:
        await _stale(visit, order)
        return
    await visit.acknowledge()
    await visit.show(Screen(visit.t("order.trying_again", reference=again.reference)))


async def _requote(visit: Visit, order: Order) -> None:
    """The same wish as a new draft, at today's quote, with the difference to the last price said."""
    await visit.acknowledge()
    if order.phase in {Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.HELD} or order.is_paid:
        await _stale(visit, order)
        return
    visit.message_id = None
    if visit.draft is None or not visit.is_replayed:
        visit.draft = await visit.desk.drafts.from_order(order, visit.update_id)
    visit.notice = await _difference(visit, order)
    await show_draft(visit)


async def _difference(visit: Visit, order: Order) -> Html | None:
    if visit.draft is None or order.sats is None or order.idr is None:
        return None
    try:
        _, worth = await visit.desk.orders.review(visit.draft)
    except (SettlementFailure, Rejection):
        return None
    return visit.t(
        "requote.difference",
        before=visit.t.sats(order.sats),
        after=visit.t.sats(worth.sats),
        before_idr=visit.t.rupiah(order.idr),
        after_idr=visit.t.rupiah(worth.idr),
    )


async def _help(visit: Visit, order: Order) -> None:
    if not visit.desk.help.is_offered:
        await _stale(visit, order)
        return
    asked = await visit.desk.help.ask(order)
    visit.desk.orders.on_news()
    await visit.acknowledge()
    key = "help.asked" if asked else "help.asked_before"
    visit.message_id = None
    await visit.say(Screen(visit.t(key, reference=order.reference)))


async def _stale(visit: Visit, order: Order) -> None:
    """The moment of this button has passed: say so, and show where the order stands now."""
    await visit.acknowledge(visit.t.plain("stale.order"))
    visit.message_id = None
    await visit.say(_state_of(visit, order))


def _state_of(visit: Visit, order: Order) -> Screen:
    notice = {
        Phase.INTENDED: Notice.CHECKING,
        Phase.UNKNOWN: Notice.CHECKING,
        Phase.UNRESOLVED: Notice.UNRESOLVED,
        Phase.HELD: Notice.PRICE_MOVED,
        Phase.REFUSED: Notice.REFUSED,
    }.get(order.phase)
    if order.phase is Phase.UNSHOWN:
        return Screen(visit.t("order.dropped", reference=order.reference), (new_row(visit.t),))
    if notice is None:
        return _card(visit, order)
    return outcome.screen(
        notice, visit.t, order, visit.desk.clock.now(), visit.zone, help_offered=visit.desk.help.is_offered
    )


def _card(visit: Visit, order: Order) -> Screen:
    now = visit.desk.clock.now()
    return card.screen(visit.t, order, now, visit.zone, help_offered=visit.desk.help.is_offered)


ACTIONS: dict[str, Callable[[Visit, Order], Awaitable[None]]] = {
    "look": _look,
    "card": _card_anew,
    "accept": _accept,
    "drop": _drop,
    "again": _again,
    "requote": _requote,
    "help": _help,
}
