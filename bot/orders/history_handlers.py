"""The list of a person's orders and the page of one of them: both are read in one message that changes its content."""

from telegram import Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler, CommandHandler

from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.orders.history import NEWEST, HistoryPage
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.screens import history
from bot.orders.screens import page as order_page
from bot.orders.status_messages import looked_at


def handlers() -> list[Handler]:
    """The command, and the buttons that turn pages; those of an order are among the orders' (`orders/handlers.py`)."""
    return [
        CommandHandler("orders", _asked_for, filters=PRIVATE),
        CallbackQueryHandler(_turned, pattern=data.HISTORY_PATTERN),
    ]


async def show_page(session: Session, order: Order) -> None:
    """The order's page: in the list's place, but never in that of a card or of news, which stay as they are."""
    await session.acknowledge()
    if not session.desk.prompts.is_current(session.chat_id, session.message_id):
        session.message_id = None
    await _show(session, await _page_of(session, order))


async def refresh(session: Session, order: Order) -> None:
    """Ask the service, unless it was asked a moment ago, and bring the page up to date."""
    await session.acknowledge(session.t.plain("card.looking"))
    await _show(session, await _page_of(session, await looked_at(session, order)))


async def back_to_list(session: Session, order: Order) -> None:
    """The page of the list on which the order stands, in the place of the order's own."""
    await session.acknowledge()
    await _show_list(session, await session.desk.history.page_holding(order))


async def _asked_for(_: Update, __: Context) -> None:
    session = SESSION.get()
    await _show_list(session, await session.desk.history.page(session.person.id))
    raise ApplicationHandlerStop


async def _turned(update: Update, _: Context) -> None:
    session = SESSION.get()
    await session.acknowledge()
    query = update.callback_query
    first = data.read_history_press(query.data or "") if query else NEWEST
    await _show_list(session, await session.desk.history.page(session.person.id, first))
    raise ApplicationHandlerStop


async def _show_list(session: Session, page: HistoryPage) -> None:
    await _show(session, history.screen(session.t, page, session.desk.clock.now(), session.zone))


async def _page_of(session: Session, order: Order) -> Screen:
    async with session.desk.store.reading() as tx:
        events = await OrderRepository(tx).events(order.reference)
    now, help_offered = session.desk.clock.now(), session.desk.help.is_offered
    return order_page.screen(session.t, order, events, now, session.zone, help_offered=help_offered)


async def _show(session: Session, screen: Screen) -> None:
    await session.show(session.with_resume(screen))
