"""Render warnings about orders for operators: as messages, and as lines of alarms."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.hooks import LoadAlarmSubject
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.infra.outbox.rendering import RenderWithFacts
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notification_kinds import AboutProblem, OrderWarning
from bot.orders.notification_queue import ALARM_OF
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.screens import warnings as screens
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.open_orders import staff_status_key
from bot.staff.alarm_model import ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_subjects import AlarmSubject
from bot.staff.screens import alarms
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class OrderInAlarm:
    """An order that an alarm is about (an `AlarmSubject`)."""

    order: Order

    @property
    def user_id(self) -> int:
        """The user of the order."""
        return self.order.user_id

    @property
    def service_id(self) -> str:
        """The service's id of the order, or "" if it has none."""
        return self.order.service_id or ""

    def format_line(self, t: Translator) -> Html:
        """Return the line that describes the order to operators."""
        return format_order_line(t, self.order)

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return the status of the order."""
        return t(staff_status_key(self.order, now))


async def load_order(tx: Transaction, reference: str) -> OrderInAlarm | None:
    """Return the order of an alarm, or None if it is deleted or can't be read."""
    order = await OrderRepository(tx).get_if_readable(reference)
    return None if order is None else OrderInAlarm(order)


ALARM_SUBJECTS: Final[Mapping[AlarmKind, LoadAlarmSubject[AlarmSubject]]] = dict.fromkeys(ORDER_ALARMS, load_order)
"""How alarms load the orders that they are about."""


class OrderWarnings:
    """Render messages to operators about orders, with the buttons of the alarm."""

    def __init__(self, operator_ids: frozenset[int], service_contact: str = "") -> None:
        self._operators = operator_ids
        self._service_contact = service_contact

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return dict.fromkeys(OrderWarning, RenderWithFacts(_read, self.render))

    async def render(
        self, notification: Notification[AboutProblem], known: OrderInAlarm | None, context: RenderContext
    ) -> DeliveryOutcome:
        """Send the warning, with the order as it is now."""
        kind, reference, t = OrderWarning(notification.kind), notification.payload.reference, context.t
        order = known.order if known else None
        screen = screens.screen(kind, t, order, notification.payload, context.now)
        if notification.chat_id in self._operators:
            alarm = Alarm(kind=ALARM_OF[kind], subject=reference, raised_at=notification.created_at)
            advice = alarms.format_advice(t, [alarm], {reference: known} if known else {})
            contact = alarms.format_service_contact(t, [alarm.kind], self._service_contact)
            screen = Screen(f"🚨 {advice}{contact}\n\n{screen.text}", alarms.build_keyboard(t, alarm))
        return await context.send_text(notification, screen, priority="money")


async def _read(notification: Notification[AboutProblem], tx: Transaction) -> OrderInAlarm | None:
    return await load_order(tx, notification.payload.reference)
