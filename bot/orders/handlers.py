"""Handle `/orders` with the pages and messages of orders, `/destinations`, and the preferences of notifications."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

import structlog

from bot.core.errors import Rejection
from bot.infra.drawing.off_loop import render_chart_off_loop
from bot.infra.feature import Infra
from bot.infra.logging import bind_fields
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import (
    NEWEST,
    DestinationsButton,
    HistoryButton,
    OrderAction,
    OrderButton,
    PreferenceButton,
    PreferencesAction,
    PreferencesButton,
)
from bot.orders.destinations import screens
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.model import DestinationsHealth
from bot.orders.history import HistoryPage, read_page, read_page_with
from bot.orders.order import Order
from bot.orders.placement.service import OrderService
from bot.orders.preferences import find_topic_by_name, set_mode
from bot.orders.receipts.handlers import ReceiptHandlers
from bot.orders.repository import OrderRepository
from bot.orders.screens import order_messages, order_page, preferences
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.order_lists import show_history, show_open_orders
from bot.orders.status_handlers import StatusMessages
from bot.settlement.errors import MethodVanished, SettlementFailure
from bot.staff.staff_chat import SupportContacts
from bot.users.buttons import send_row
from bot.users.model import press_event
from bot.users.repository import record_user_event
from bot.users.session import Session

log = structlog.get_logger(__name__)

OPEN_ORDERS_SHOWN: Final = 8

ActOnOrder = Callable[[Session, Order], Awaitable[object]]
"""Does what a button of an order says."""


class OrderHandlers:
    """Handle the list of orders and the buttons of an order. A button works only for the order's own user."""

    def __init__(
        self,
        infra: Infra,
        *,
        service: OrderService,
        status_messages: StatusMessages,
        receipts: ReceiptHandlers,
        contacts: SupportContacts,
    ) -> None:
        self._database = infra.database
        self._service = service
        self._status_messages = status_messages
        self._contacts = contacts
        self.actions: Mapping[OrderAction, ActOnOrder] = {
            OrderAction.REFRESH_STATUS: self._refresh_status,
            OrderAction.RESEND_STATUS: status_messages.resend_status_message,
            OrderAction.ACCEPT: self._accept,
            OrderAction.DROP: self._drop,
            OrderAction.DROP_UNPAID: self._drop_unpaid,
            OrderAction.TRY_AGAIN: self._try_again,
            OrderAction.SHOW_PAGE: self._show_page,
            OrderAction.REFRESH_PAGE: self._refresh_page,
            OrderAction.SHOW_LIST: self._show_list_with,
            OrderAction.RECEIPT: receipts.send_receipt,
            OrderAction.TELL: receipts.tell_recipient,
        }
        """The actions that this package does. Packages above do the others (`home/handlers.py`)."""

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons of the list."""
        routes = Routes[Session]()
        routes.add_command("orders", self.list_orders, menu={Menu.EVERYONE: 50})
        routes.add_button(HistoryButton, self.history_button)
        return routes

    async def order_button(self, session: Session, button: OrderButton, act: ActOnOrder) -> None:
        """Handle a button of the user's own order, and record the press for support.

        Its route is in `home/handlers.py`, because features above orders have actions of their own on it.
        """
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(button.reference)
        if order is None or order.payer.chat_id != session.chat_id:
            await session.acknowledge(session.t.plain("orders.stale.not_yours"), alert=True)
            return
        with bind_fields(order=order.reference):
            log.info("order_button_pressed", action=button.action.name.lower())
            if button.action is OrderAction.HELP and not self._contacts.is_offered:
                act = self._status_messages.reject_outdated_button
            await act(session, order)
            async with self._database.transaction() as tx:
                await record_user_event(tx, session.user.id, press_event(button.action), session.now, order.reference)

    async def _refresh_status(self, session: Session, order: Order) -> None:
        """Poll the order, unless that just happened, and update the status message.

        A message to pay with stays as it is: it can't show anything but that the order waits for its payment. If the
        order has changed, the outbox sends the news and removes it.
        """
        await session.acknowledge(session.t.plain("orders.status_message.looking"))
        refreshed = await self._status_messages.refresh_order(session, order)
        if not order.may_be_shown(session.now):
            if session.notice is None and order_messages.may_have_been_paid(refreshed, session.now):
                at = session.t.seconds(session.now, session.reader.zone)
                session.notice = session.t("orders.status_message.no_payment_yet", at=at)
            await self._status_messages.update_pressed(session, refreshed)
        elif session.notice is not None:
            await session.send_message(self._status_messages.build_screen(session, refreshed))

    async def _accept(self, session: Session, order: Order) -> None:
        try:
            accepted = await self._service.accept(order.reference)
        except SettlementFailure:
            # The question stays open until the list of orders can be read.
            await session.acknowledge()
            session.notice = session.t("orders.cannot_compare")
            await self._status_messages.update_pressed(session, order)
            return
        if accepted is None:
            await self._status_messages.reject_outdated_button(session, order)
            return
        await session.acknowledge()
        if not accepted.awaits_payment(session.now):
            # A message of its own says why it can't be paid after all.
            await self._status_messages.update_pressed(session, accepted)
            return
        await session.edit_message(order_messages.show_confirmed(session.t, accepted))

    async def _drop(self, session: Session, order: Order) -> None:
        if not await self._service.drop(order.reference):
            await self._status_messages.reject_outdated_button(session, order)
            return
        await session.acknowledge()
        text = session.t("orders.dropped", line=format_order_line(session.t, order))
        await session.edit_message(Screen(text, (send_row(session.t),)))

    async def _drop_unpaid(self, session: Session, order: Order) -> None:
        """Remove the invoice. Perhaps it has just been paid, so the service is asked first."""
        current = await self._status_messages.refresh_order(session, order)
        dropped, session.notice = await self._service.drop_unpaid(order.reference), None
        if dropped is None:
            await self._status_messages.reject_outdated_button(session, current)
            return
        await session.acknowledge()
        session.notice = order_messages.explain_dropped(session.reader, dropped)
        if not await session.show_question():
            await self._show_page_from(session, NEWEST)

    async def _try_again(self, session: Session, order: Order) -> None:
        try:
            new_attempt = await self._service.try_again(order.reference, session.message_id)
        except (Rejection, MethodVanished, SettlementFailure) as failure:
            # The question stays open, so that the user can try later.
            await session.acknowledge()
            session.notice = order_messages.explain_failure(session.reader, order, failure)
            await self._status_messages.update_pressed(session, order)
            return
        if new_attempt is None:
            await self._status_messages.reject_outdated_button(session, order)
            return
        await session.acknowledge()
        await self._status_messages.show_outcome(session, new_attempt)

    async def show_open_orders(self, session: Session) -> Screen:
        """Return the screen with the user's open orders, with failed ones that aren't settled first."""
        async with self._database.reading() as tx:
            failed = await OrderRepository(tx).unsettled_of_user(session.user.id, OPEN_ORDERS_SHOWN)
            orders = await OrderRepository(tx).open_of_user(session.user.id, OPEN_ORDERS_SHOWN)
        return show_open_orders(session.reader, (*failed, *orders))

    async def list_orders(self, session: Session, _: str) -> None:
        """Show the newest page of the list."""
        await self._show_page_from(session, NEWEST)

    async def history_button(self, session: Session, button: HistoryButton) -> None:
        """Show another page of the list."""
        await session.acknowledge()
        await self._show_page_from(session, button.first)

    async def _show_list_with(self, session: Session, order: Order) -> None:
        await session.acknowledge()
        async with self._database.reading() as tx:
            page = await read_page_with(tx, order)
        await self._show_list(session, page)

    async def _show_page(self, session: Session, order: Order) -> None:
        """Replace the list by the order's page. Status messages and notifications are kept."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await self._show_page_of(session, order)

    async def _refresh_page(self, session: Session, order: Order) -> None:
        await session.acknowledge(session.t.plain("orders.status_message.looking"))
        await self._show_page_of(session, await self._status_messages.refresh_order(session, order))

    async def _show_page_from(self, session: Session, first: str) -> None:
        async with self._database.reading() as tx:
            page = await read_page(tx, session.user.id, first)
        await self._show_list(session, page)

    async def _show_list(self, session: Session, page: HistoryPage) -> None:
        await session.show(session.with_resume(show_history(session.reader, page)))

    async def _show_page_of(self, session: Session, order: Order) -> None:
        async with self._database.reading() as tx:
            events = await OrderRepository(tx).events(order.reference)
        screen = order_page.screen(session.reader, order, events, help_offered=self._contacts.is_offered)
        await session.show(session.with_resume(screen))


class DestinationHandlers:
    """Show operators how each destination is doing."""

    def __init__(self, destinations: DestinationHealthService) -> None:
        self._destinations = destinations

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("destinations", self.show_destinations, menu={Menu.OPERATORS: 45})
        routes.add_button(DestinationsButton, self.page_button)
        return routes

    async def show_destinations(self, session: Session, _: str) -> None:
        """Show the picture of the most used destinations, and the list below it."""
        health = await self._destinations.get()
        chart = None if health is None else screens.build_chart(session.t, health, session.zone)
        if health is not None and chart is not None:
            picture = await render_chart_off_loop(chart)
            await session.send_message(screens.show_chart(session.t, health, session.zone, picture))
        await session.send_message(self._build_list(session, health, 0))

    async def page_button(self, session: Session, button: DestinationsButton) -> None:
        """Show a page in place of the page before, with the newest figures."""
        await session.acknowledge()
        await session.edit_message(self._build_list(session, await self._destinations.get(), int(button.page)))

    def _build_list(self, session: Session, health: DestinationsHealth | None, page: int) -> Screen:
        if health is None:
            return Screen(session.t("orders.destinations.unavailable"))
        return screens.show_destinations(session.t, health, page, session.zone)


class PreferenceHandlers:
    """Let users choose how notifications reach them."""

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(PreferencesButton, self.preferences_button)
        routes.add_button(PreferenceButton, self.preference_button)
        return routes

    async def preferences_button(self, session: Session, button: PreferencesButton) -> None:
        """Show the preferences. Reset them first if the button says so."""
        if button.action is PreferencesAction.RESET:
            await session.save_user(replace(session.user, notification_preferences=None))
        await self._show(session)

    async def preference_button(self, session: Session, button: PreferenceButton) -> None:
        """Save how notifications of a topic arrive, if the topic allows that mode."""
        topic = find_topic_by_name(button.topic)
        if topic is None or button.mode not in topic.modes:
            await session.explain("users.stale.button")
            return
        await session.acknowledge(session.t.plain(f"orders.preferences.way.{button.mode}"))
        chosen = set_mode(session.user.notification_preferences, topic, button.mode)
        await session.save_user(replace(session.user, notification_preferences=chosen))
        await self._show(session)

    async def _show(self, session: Session) -> None:
        await session.acknowledge()
        await session.show(session.with_resume(preferences.screen(session.t, session.user)))
