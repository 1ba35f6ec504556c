"""Buttons under an order's messages: they work at any point of any conversation, and only for whose order it is."""

from collections.abc import Awaitable, Callable

from telegram import Update
from telegram.ext import ApplicationHandlerStop

from bot.checkout import reorder_handlers as again
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.orders import history_handlers as history
from bot.orders.order import Order, Phase
from bot.orders.placement.service import MethodVanished
from bot.orders.receipts import handlers as receipts
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_order_line
from bot.orders.status_messages import looked_at, screen_of, show_as_decided, show_at_the_end
from bot.recipients.formatting import format_method
from bot.settlement.model import SettlementFailure
from bot.support.user_chat import handlers as tickets
from bot.users.activity import pressed, record_user_event
from bot.users.screens.buttons import send_row


async def order_pressed(update: Update, _: object) -> None:
    """Find the order, see that it is this chat's, and do what the button says."""
    visit = SESSION.get()
    query = update.callback_query
    press = data.read_order_press(query.data or "") if query else None
    if press is not None:
        async with visit.desk.store.reading() as tx:
            order = await OrderRepository(tx).get(press.reference)
        if order is None or order.chat_id != visit.chat_id:
            await visit.acknowledge(visit.t.plain("stale.not_yours"), alert=True)
        else:
            await ACTIONS.get(press.action, show_as_decided)(visit, order)
            await _write_down(visit, press)
    raise ApplicationHandlerStop


async def _write_down(visit: Session, press: data.OrderPress) -> None:
    """For support: what somebody did about their order."""
    if press.action in ACTIONS:
        async with visit.desk.store.transaction() as tx:
            await record_user_event(tx, visit.person.id, pressed(press.action), visit.desk.clock.now(), press.reference)


async def _look(visit: Session, order: Order) -> None:
    """Ask the service now, unless it was asked a moment ago, and bring the pressed card up to date."""
    await visit.acknowledge(visit.t.plain("card.looking"))
    await visit.update(screen_of(visit, await looked_at(visit, order)))


async def _accept(visit: Session, order: Order) -> None:
    try:
        opened = await visit.desk.orders.accept_price(order.reference)
    except SettlementFailure:
        # The question stays open until the list of orders can be read.
        await visit.acknowledge()
        visit.notice = visit.t("order.cannot_compare")
        await visit.update(screen_of(visit, order))
        return
    if opened is None:
        await show_as_decided(visit, order)
        return
    await visit.acknowledge()
    if opened.phase is not Phase.OPEN:
        # Why it can't be paid after all comes as a message of its own.
        await visit.update(screen_of(visit, opened))
        return
    await visit.update(Screen(visit.t("order.accepted", line=format_order_line(visit.t, opened))))


async def _drop(visit: Session, order: Order) -> None:
    if not await visit.desk.orders.drop(order.reference):
        await show_as_decided(visit, order)
        return
    await visit.acknowledge()
    text = visit.t("order.dropped", line=format_order_line(visit.t, order))
    await visit.update(Screen(text, (send_row(visit.t),)))


async def _try_again(visit: Session, order: Order) -> None:
    try:
        anew = await visit.desk.orders.try_again(order.reference)
    except (Rejection, MethodVanished, SettlementFailure) as failure:
        # The question stays open until it is possible.
        await visit.acknowledge()
        visit.notice = _why_not(visit, order, failure)
        await visit.update(screen_of(visit, order))
        return
    if anew is None:
        await show_as_decided(visit, order)
        return
    await visit.acknowledge()
    await visit.update(Screen(visit.t("order.trying_again", line=format_order_line(visit.t, anew))))


def _why_not(visit: Session, order: Order, failure: Exception) -> Html:
    if isinstance(failure, Rejection):
        return visit.reason(failure)
    if isinstance(failure, MethodVanished):
        return visit.t("again.vanished", name=format_method(order.method))
    return visit.t("order.cannot_check")


async def _help(visit: Session, order: Order) -> None:
    if visit.desk.help.is_offered:
        await tickets.ask_about(visit, order)
    else:
        await show_as_decided(visit, order)


ACTIONS: dict[str, Callable[[Session, Order], Awaitable[object]]] = {
    "look": _look,
    "card": show_at_the_end,
    "accept": _accept,
    "drop": _drop,
    "again": _try_again,
    "requote": again.new_quote,
    "resend": again.resend,
    "page": history.show_page,
    "refresh": history.refresh,
    "list": history.back_to_list,
    "receipt": receipts.show,
    "help": _help,
}
