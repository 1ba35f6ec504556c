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
from bot.users.activity import pressed, record_user_event
from bot.users.screens.buttons import send_row


async def order_pressed(update: Update, _: object) -> None:
    """Find the order, see that it is this chat's, and do what the button says."""
    session = SESSION.get()
    query = update.callback_query
    press = data.read_order_press(query.data or "") if query else None
    if press is not None:
        async with session.desk.store.reading() as tx:
            order = await OrderRepository(tx).get(press.reference)
        if order is None or order.chat_id != session.chat_id:
            await session.acknowledge(session.t.plain("stale.not_yours"), alert=True)
        else:
            await ACTIONS.get(press.action, show_as_decided)(session, order)
            await _write_down(session, press)
    raise ApplicationHandlerStop


async def _write_down(session: Session, press: data.OrderPress) -> None:
    """For support: what somebody did about their order."""
    if press.action in ACTIONS:
        async with session.desk.store.transaction() as tx:
            await record_user_event(
                tx, session.person.id, pressed(press.action), session.desk.clock.now(), press.reference
            )


async def _look(session: Session, order: Order) -> None:
    """Ask the service now, unless it was asked a moment ago, and bring the pressed card up to date."""
    await session.acknowledge(session.t.plain("card.looking"))
    await session.update(screen_of(session, await looked_at(session, order)))


async def _accept(session: Session, order: Order) -> None:
    try:
        opened = await session.desk.orders.accept_price(order.reference)
    except SettlementFailure:
        # The question stays open until the list of orders can be read.
        await session.acknowledge()
        session.notice = session.t("order.cannot_compare")
        await session.update(screen_of(session, order))
        return
    if opened is None:
        await show_as_decided(session, order)
        return
    await session.acknowledge()
    if opened.phase is not Phase.OPEN:
        # Why it can't be paid after all comes as a message of its own.
        await session.update(screen_of(session, opened))
        return
    await session.update(Screen(session.t("order.accepted", line=format_order_line(session.t, opened))))


async def _drop(session: Session, order: Order) -> None:
    if not await session.desk.orders.drop(order.reference):
        await show_as_decided(session, order)
        return
    await session.acknowledge()
    text = session.t("order.dropped", line=format_order_line(session.t, order))
    await session.update(Screen(text, (send_row(session.t),)))


async def _try_again(session: Session, order: Order) -> None:
    try:
        anew = await session.desk.orders.try_again(order.reference)
    except (Rejection, MethodVanished, SettlementFailure) as failure:
        # The question stays open until it is possible.
        await session.acknowledge()
        session.notice = _why_not(session, order, failure)
        await session.update(screen_of(session, order))
        return
    if anew is None:
        await show_as_decided(session, order)
        return
    await session.acknowledge()
    await session.update(Screen(session.t("order.trying_again", line=format_order_line(session.t, anew))))


def _why_not(session: Session, order: Order, failure: Exception) -> Html:
    if isinstance(failure, Rejection):
        return session.reason(failure)
    if isinstance(failure, MethodVanished):
        return session.t("again.vanished", name=format_method(order.method))
    return session.t("order.cannot_check")


async def _help(session: Session, order: Order) -> None:
    if session.desk.help.is_offered:
        await session.desk.ask_about_order(session, order)
    else:
        await show_as_decided(session, order)


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
