"""Refresh the status of an order, and send it again as a message."""

from datetime import timedelta
from typing import Final

from bot.infra.feature import Infra
from bot.infra.outbox.model import NotificationStatus, format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.notification_kinds import OUTCOMES, STATUS_MESSAGES, OrderNotification
from bot.orders.notification_queue import order_notifications, order_subject
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.placement.invoice_check import payment_notifications
from bot.orders.repository import OrderRepository
from bot.orders.screens import order_messages
from bot.orders.tracking.observer import Observer
from bot.settlement.model import Settlement, SettlementFailure
from bot.staff.staff_chat import SupportContacts
from bot.users.session import Session

MIN_INTERVAL: Final = timedelta(seconds=1)
"""An order is polled at most once a second (settlement API, 6.3)."""


SHOWN_ELSEWHERE: Final = frozenset({Phase.INTENDED, Phase.NEEDS_CONFIRMATION, Phase.OPEN, Phase.DONE})
"""The phases that a message of its own shows, or nothing yet."""


class StatusMessages:
    """Show users the status of their orders."""

    def __init__(self, infra: Infra, settlement: Settlement, observer: Observer, contacts: SupportContacts) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._settlement = settlement
        self._observer = observer
        self._contacts = contacts

    def build_screen(self, session: Session, order: Order) -> Screen:
        """Return the status message of an order, or the question or result that takes its place."""
        return order_messages.status_screen(session.reader, order, help_offered=self._contacts.is_offered)

    async def show_outcome(self, session: Session, order: Order) -> None:
        """Show in the confirmed review what has become of the order meanwhile.

        The outbox does the same. But if it was faster, the review was written over it.
        """
        async with self._database.reading() as tx:
            current = await OrderRepository(tx).get(order.reference)
            rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
        kinds = [OrderNotification(row.kind) for row in rows if row.kind in OUTCOMES]
        if current is not None and kinds and current.phase not in SHOWN_ELSEWHERE:
            screen = order_messages.screen(kinds[-1], session.reader, current, help_offered=self._contacts.is_offered)
            await session.edit_message(screen)

    async def refresh_order(self, session: Session, order: Order) -> Order:
        """Poll the order, unless that just happened, and return it. If polling fails, tell the user."""
        now = session.now
        was_just_polled = order.last_polled_at is not None and now - order.last_polled_at < MIN_INTERVAL
        is_over = order.phase is not Phase.OPEN and not order.is_closed_unpaid
        if is_over or order.service_id is None or was_just_polled:
            return order
        try:
            report = await self._settlement.look_up(order.service_id)
        except SettlementFailure:
            session.notice = session.t("orders.card.cannot_look")
            return order
        return await self._observer.apply_report(order.reference, report, asked_at=now) or order

    async def update_pressed(self, session: Session, order: Order) -> None:
        """Show the status in the pressed message. If another one is edited at each step, that one takes its place.

        Otherwise the pressed message would show a step that is soon over.
        """
        async with self._database.reading() as tx:
            rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
        shown = [row for row in rows if row.kind in STATUS_MESSAGES and row.chat_id == session.chat_id][-1:]
        follows = [row for row in shown if row.status in {NotificationStatus.WAITING, NotificationStatus.SENDING}]
        is_other = any(row.message_id not in {None, session.message_id} for row in shown)
        if order.is_ended or session.message_id is None or not (follows or is_other):
            await session.edit_message(self.build_screen(session, order))
            return
        await self._messenger.delete(session.chat_id, session.message_id, priority="talk")
        if is_other:
            await self.send_status_message(session, order)

    async def resend_status_message(self, session: Session, order: Order) -> None:
        """Show the status at the end of the chat: the QR code if the order can be paid, or else the status message."""
        await session.acknowledge()
        if order.may_be_shown(session.now):
            await self.resend_payment(session, order)
        else:
            await self.send_status_message(session, order)

    async def resend_payment(self, session: Session, order: Order) -> None:
        """Queue the message to pay with again, and the removal of those before it."""
        button = OrderButton(order.reference, OrderAction.RESEND_STATUS).pack()
        if session.is_double_tap(button):
            return
        mark = format_mark("again", session.update_id)
        kinds = (*payment_notifications(order), OrderNotification.TAKE_DOWN)
        async with self._database.transaction() as tx:
            await OutboxRepository(tx).add(order_notifications(order, kinds, session.now, mark))
        session.record_tap(button)

    async def send_status_message(self, session: Session, order: Order, screen: Screen | None = None) -> Outcome:
        """Send the status as a new message, and delete the previous status message. Return the outcome.

        From now on, the new message is the one that is edited, also if the user never got the previous one. Before the
        order can be paid, that is the review. `screen` is the message if it shows more than the status.
        """
        sent = await session.send_message(screen or self.build_screen(session, order))
        message_id = sent.message_id if isinstance(sent, Delivered) else None
        kinds = (OrderNotification.REVIEW,) if order.phase in UNCERTAIN_PHASES else STATUS_MESSAGES
        if message_id is None or order.phase is Phase.NEEDS_CONFIRMATION:
            return sent
        async with self._database.transaction() as tx:
            rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
            shown = [row for row in rows if row.kind in kinds and row.chat_id == session.chat_id][-1:]
            for row in shown:
                await OutboxRepository(tx).replace_message_id(row.id, message_id)
        for row in shown:
            if row.message_id not in {None, message_id}:
                await self._messenger.delete(session.chat_id, row.message_id, priority="talk")
        return sent

    async def reject_outdated_button(self, session: Session, order: Order) -> None:
        """Tell the user that the button no longer applies, and send the status message."""
        await session.acknowledge(session.t.plain("orders.stale.order"))
        await self.resend_status_message(session, order)
