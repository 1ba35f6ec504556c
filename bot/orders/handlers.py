"""Handle `/orders`, the list of orders, the page of an order, and the buttons of its messages."""

from typing import Final

import structlog

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.hooks import ButtonAction
from bot.infra.i18n import Html
from bot.infra.log_context import bind_fields
from bot.infra.telegram.ui.router import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import HistoryPage, OrderHistory
from bot.orders.order import Order
from bot.orders.placement.service import MethodVanished, OrderService
from bot.orders.receipts.handlers import ReceiptHandlers
from bot.orders.repository import OrderRepository
from bot.orders.screens import history, open_orders, order_page, status_message
from bot.orders.screens.formatting import format_order_line
from bot.orders.status_messages import StatusMessages
from bot.recipients.formatting import format_method
from bot.settlement.model import SettlementFailure
from bot.staff.staff_chat import SupportContacts
from bot.users.buttons import send_row
from bot.users.model import press_event
from bot.users.repository import record_user_event
from bot.users.session import Session

log = structlog.get_logger(__name__)

OPEN_ORDERS_SHOWN: Final = 8

REPEATS: Final = frozenset({OrderAction.REQUOTE, OrderAction.RESEND})
"""The actions that begin a draft with the order's recipient."""


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
        self._history = OrderHistory(infra.database)
        self._status_messages = status_messages
        self._contacts = contacts
        self._actions: dict[OrderAction, ButtonAction[Session, Order]] = {
            OrderAction.REFRESH_STATUS: self._refresh_status,
            OrderAction.RESEND_STATUS: status_messages.resend_status_message,
            OrderAction.ACCEPT: self._accept,
            OrderAction.DROP: self._drop,
            OrderAction.TRY_AGAIN: self._try_again,
            OrderAction.SHOW_PAGE: self._show_page,
            OrderAction.REFRESH_PAGE: self._refresh_page,
            OrderAction.SHOW_LIST: self._show_list_with,
            OrderAction.RECEIPT: receipts.send_receipt,
        }

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("orders", self.list_orders, menu={Menu.EVERYONE: 50})
        routes.add_button(OrderButton, self.order_button, belongs_to="order")
        routes.add_button(HistoryButton, self.history_button)
        return routes

    @property
    def actions(self) -> frozenset[OrderAction]:
        """The actions that this package does. Features above declare the others (`Feature.order_actions`)."""
        return frozenset(self._actions)

    async def order_button(self, session: Session, button: OrderButton) -> None:
        """Handle a button of the user's own order, and record the press for support."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(button.reference)
        if order is None or order.payer.chat_id != session.chat_id:
            await session.acknowledge(session.t.plain("orders.stale.not_yours"), alert=True)
            return
        with bind_fields(order=order.reference):
            log.info("order_button_pressed", action=button.action.name.lower())
            # Whatever was pressed: a draft would have the number that its payer may not see.
            action = OrderAction.OPEN_LINK if order.hides_recipient and button.action in REPEATS else button.action
            await self._action_of(session, action)(session, order)
            async with self._database.transaction() as tx:
                await record_user_event(tx, session.user.id, press_event(button.action), session.now, order.reference)

    def _action_of(self, session: Session, action: OrderAction) -> ButtonAction[Session, Order]:
        if action is OrderAction.HELP and not self._contacts.is_offered:
            return self._status_messages.reject_outdated_button
        if action in self._actions:
            return self._actions[action]
        for feature in session.infra.features:
            if action in feature.order_actions:
                return feature.order_actions[action]
        return self._status_messages.reject_outdated_button

    async def _refresh_status(self, session: Session, order: Order) -> None:
        """Poll the order, unless that just happened, and update the status message.

        A message to pay with stays as it is: it can't show anything but that the order waits for its payment. If the
        order has changed, the outbox sends the news and removes it.
        """
        await session.acknowledge(session.t.plain("orders.card.looking"))
        refreshed = await self._status_messages.refresh_order(session, order)
        if not order.may_be_shown(session.now):
            if session.notice is None and status_message.may_have_been_paid(refreshed, session.now):
                at = session.t.seconds(session.now, session.reader.zone)
                session.notice = session.t("orders.card.no_payment_yet", at=at)
            await self._status_messages.update_pressed(session, refreshed)
        elif session.notice is not None:
            await session.send_message(self._status_messages.build_screen(session, refreshed))

    async def _accept(self, session: Session, order: Order) -> None:
        try:
            accepted = await self._service.accept_price(order.reference)
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
        await session.edit_message(Screen(session.t("orders.accepted", line=format_order_line(session.t, accepted))))

    async def _drop(self, session: Session, order: Order) -> None:
        if not await self._service.drop(order.reference):
            await self._status_messages.reject_outdated_button(session, order)
            return
        await session.acknowledge()
        text = session.t("orders.dropped", line=format_order_line(session.t, order))
        await session.edit_message(Screen(text, (send_row(session.t),)))

    async def _try_again(self, session: Session, order: Order) -> None:
        try:
            new_attempt = await self._service.try_again(order.reference, session.message_id)
        except (Rejection, MethodVanished, SettlementFailure) as failure:
            # The question stays open, so that the user can try later.
            await session.acknowledge()
            session.notice = _explain_failure(session, order, failure)
            await self._status_messages.update_pressed(session, order)
            return
        if new_attempt is None:
            await self._status_messages.reject_outdated_button(session, order)
            return
        await session.acknowledge()
        await session.edit_message(
            Screen(session.t("orders.trying_again", line=format_order_line(session.t, new_attempt)))
        )
        await self._status_messages.show_outcome(session, new_attempt)

    async def show_open_orders(self, session: Session) -> Screen:
        """Return the screen with the user's open orders, with failed ones that aren't settled first."""
        async with self._database.reading() as tx:
            failed = await OrderRepository(tx).unsettled_of_user(session.user.id, OPEN_ORDERS_SHOWN)
            orders = await OrderRepository(tx).open_of_user(session.user.id, OPEN_ORDERS_SHOWN)
        return open_orders.screen(session.reader, (*failed, *orders))

    async def list_orders(self, session: Session, _: str) -> None:
        """Show the newest page of the list."""
        await self._show_list(session, await self._history.get_page(session.user.id))

    async def history_button(self, session: Session, button: HistoryButton) -> None:
        """Show another page of the list."""
        await session.acknowledge()
        await self._show_list(session, await self._history.get_page(session.user.id, button.first))

    async def _show_list_with(self, session: Session, order: Order) -> None:
        """Replace the order's page by the page of the list that has the order."""
        await session.acknowledge()
        await self._show_list(session, await self._history.get_page_with(order))

    async def _show_page(self, session: Session, order: Order) -> None:
        """Replace the list by the order's page. Status messages and notifications are kept."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await self._show_page_of(session, order)

    async def _refresh_page(self, session: Session, order: Order) -> None:
        """Poll the order, unless that just happened, and update the page."""
        await session.acknowledge(session.t.plain("orders.card.looking"))
        await self._show_page_of(session, await self._status_messages.refresh_order(session, order))

    async def _show_list(self, session: Session, page: HistoryPage) -> None:
        await session.show(session.with_resume(history.screen(session.reader, page)))

    async def _show_page_of(self, session: Session, order: Order) -> None:
        async with self._database.reading() as tx:
            events = await OrderRepository(tx).events(order.reference)
        screen = order_page.screen(session.reader, order, events, help_offered=self._contacts.is_offered)
        await session.show(session.with_resume(screen))


def _explain_failure(session: Session, order: Order, failure: Exception) -> Html:
    if isinstance(failure, Rejection):
        return session.format_rejection(failure)
    if isinstance(failure, MethodVanished):
        return session.t("orders.repeat.vanished", name=format_method(order.method))
    return session.t("orders.cannot_check")
