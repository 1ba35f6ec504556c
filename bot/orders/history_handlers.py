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


async def show_page(visit: Session, order: Order) -> None:
    """The order's page: in the list's place, but never in that of a card or of news, which stay as they are."""
    await visit.acknowledge()
    if not visit.desk.prompts.is_current(visit.chat_id, visit.message_id):
        visit.message_id = None
    await _show(visit, await _page_of(visit, order))


async def refresh(visit: Session, order: Order) -> None:
    """Ask the service, unless it was asked a moment ago, and bring the page up to date."""
    await visit.acknowledge(visit.t.plain("card.looking"))
    await _show(visit, await _page_of(visit, await looked_at(visit, order)))


async def back_to_list(visit: Session, order: Order) -> None:
    """The page of the list on which the order stands, in the place of the order's own."""
    await visit.acknowledge()
    await _show_list(visit, await visit.desk.history.page_holding(order))


async def _asked_for(_: Update, __: Context) -> None:
    visit = SESSION.get()
    await _show_list(visit, await visit.desk.history.page(visit.person.id))
    raise ApplicationHandlerStop


async def _turned(update: Update, _: Context) -> None:
    visit = SESSION.get()
    await visit.acknowledge()
    query = update.callback_query
    first = data.read_history_press(query.data or "") if query else NEWEST
    await _show_list(visit, await visit.desk.history.page(visit.person.id, first))
    raise ApplicationHandlerStop


async def _show_list(visit: Session, page: HistoryPage) -> None:
    await _show(visit, history.screen(visit.t, page, visit.desk.clock.now(), visit.zone))


async def _page_of(visit: Session, order: Order) -> Screen:
    async with visit.desk.store.reading() as tx:
        events = await OrderRepository(tx).events(order.reference)
    now, help_offered = visit.desk.clock.now(), visit.desk.help.is_offered
    return order_page.screen(visit.t, order, events, now, visit.zone, help_offered=help_offered)


async def _show(visit: Session, screen: Screen) -> None:
    await visit.show(visit.with_resume(screen))
