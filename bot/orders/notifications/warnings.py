"""Render what is wrong with an order for operators: its own messages, and its lines in alarms."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notifications.kinds import AboutProblem, OrderWarning
from bot.orders.notifications.queueing import ALARM_OF
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.screens import warnings as screens
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.open_orders import status_key
from bot.staff.alarm_model import ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_subjects import LoadAlarmSubject
from bot.staff.screens import alarms
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class OrderInAlarm:
    """An order that an alarm is about (an `AlarmSubject`)."""

    order: Order

    @property
    def user_id(self) -> int:
        """Return the user of the order."""
        return self.order.user_id

    @property
    def service_id(self) -> str:
        """Return the id by which the settlement service knows it; "" where it has given none."""
        return self.order.service_id or ""

    def format_line(self, t: Translator) -> Html:
        """Return what names the order to operators."""
        return format_order_line(t, self.order)

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return its status."""
        return t(status_key(self.order, now))


async def load_order(tx: Transaction, reference: str) -> OrderInAlarm | None:
    """Return the order of an alarm; None where it is gone or can't be read."""
    order = await OrderRepository(tx).get_if_readable(reference)
    return None if order is None else OrderInAlarm(order)


ALARM_SUBJECTS: Final[Mapping[AlarmKind, LoadAlarmSubject]] = dict.fromkeys(ORDER_ALARMS, load_order)
"""How staff's alarms read orders."""


class OrderWarnings:
    """The messages to operators about orders, with what an operator can do."""

    def __init__(self, operator_ids: frozenset[int]) -> None:
        self._operators = operator_ids

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return dict.fromkeys(OrderWarning, self.render)

    async def render(self, notification: Notification[AboutProblem], context: RenderContext) -> DeliveryOutcome:
        """Say what is wrong with the order as it is now."""
        kind, reference, t = OrderWarning(notification.kind), notification.payload.reference, context.t
        async with context.store.reading() as tx:
            known = await load_order(tx, reference)
        order = known.order if known else None
        screen = screens.screen(kind, t, order, notification.payload, context.now)
        if notification.chat_id in self._operators:
            alarm = Alarm(kind=ALARM_OF[kind], subject=reference, raised_at=notification.created_at)
            advice = alarms.format_advice(t, [alarm], {reference: known} if known else {})
            screen = Screen(f"{screen.text}\n{advice}", alarms.build_keyboard(t, alarm))
        return await context.send_text(notification, screen, priority="money")
