"""Warnings to operators about orders: their kinds, how they are queued, and the messages.

They show masked facts, never an account number or a name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.infra.outbox.rendering import RenderWithFacts
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.ui.reader import clip
from bot.infra.telegram.ui.screen import Screen
from bot.orders.messages import order_subject
from bot.orders.notifications import AboutOrder
from bot.orders.order import Failure, Order
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_order_line, format_payer
from bot.orders.screens.order_lists import staff_status_key
from bot.staff.alarms import add_order_alarm, list_notified
from bot.staff.model import Alarm, AlarmKind
from bot.staff.screens import build_keyboard, format_advice, format_service_contact
from bot.users.readers import RenderContext, Renderer

MAX_COMPLAINT: Final = 300


@dataclass(frozen=True, slots=True)
class AboutProblem(AboutOrder):
    """An order with a problem. `complaint` describes it if the order itself doesn't show it."""

    complaint: str = ""


class OrderWarning(NotificationKind):
    """Notifications for operators about an order. Users' own messages about it are `OrderNotification`."""

    BAD_INVOICE = "staff_bad_invoice", AboutProblem
    OVERDUE = "staff_overdue", AboutProblem
    FAILED = "staff_failed", AboutProblem  # it failed after the payment arrived


ALARM_OF: Final[Mapping[OrderWarning, AlarmKind]] = {
    OrderWarning.OVERDUE: AlarmKind.ORDER_STUCK,
    OrderWarning.FAILED: AlarmKind.ORDER_FAILED,
    OrderWarning.BAD_INVOICE: AlarmKind.INVOICE_MISMATCH,
}
"""The alarm that is raised with each warning."""


def operator_notifications(
    operator_ids: Iterable[int], kind: OrderWarning, order: Order, now: datetime, complaint: str = ""
) -> list[Notification[AboutProblem]]:
    """Return the warnings to operators about an order. `complaint` contains no personal data."""
    payload = AboutProblem(order.reference, complaint)
    return [kind.create(each, order_subject(order), payload, now) for each in sorted(operator_ids)]


async def warn_operators(
    tx: Transaction,
    operator_ids: Iterable[int],
    kind: OrderWarning,
    order: Order,
    now: datetime,
    *,
    complaint: str = "",
) -> None:
    """Raise the alarm about an order, and queue the warnings. One that isn't urgent waits for an operator's morning."""
    facts = {"complaint": complaint} if complaint else {}
    alarm = await add_order_alarm(tx, ALARM_OF[kind], order.reference, now, **facts)
    notified = await list_notified(tx, alarm, operator_ids, now)
    await OutboxRepository(tx).add(operator_notifications(notified, kind, order, now, complaint))


def show_warning(
    kind: OrderWarning, t: Translator, order: Order | None, problem: AboutProblem, now: datetime
) -> Screen:
    """Return the warning. `order` is None if it is deleted or can't be read."""
    if order is None and kind is not OrderWarning.BAD_INVOICE:
        return Screen(t("orders.notification.staff_unreadable", reference=problem.reference))
    facts: dict[str, object] = {"line": problem.reference} if order is None else _facts(t, order, now)
    if kind is OrderWarning.FAILED and order is not None and order.failure is Failure.UNKNOWN:
        return Screen(t("orders.notification.staff_failed_unknown", **facts))
    return Screen(t(f"orders.notification.{kind}", **facts, complaint=clip(problem.complaint, MAX_COMPLAINT)))


def _facts(t: Translator, order: Order, now: datetime) -> dict[str, object]:
    return {
        "line": format_order_line(t, order),
        "state": t(staff_status_key(order, now)),
        "payer": format_payer(t, order),
    }


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
        screen = show_warning(kind, t, order, notification.payload, context.now)
        if notification.chat_id in self._operators:
            alarm = Alarm(kind=ALARM_OF[kind], subject=reference, raised_at=notification.created_at)
            advice = format_advice(t, [alarm], {reference: known} if known else {})
            contact = format_service_contact(t, [alarm.kind], self._service_contact)
            screen = Screen(f"🚨 {advice}{contact}\n\n{screen.text}", build_keyboard(t, alarm))
        return await context.send_text(notification, screen, priority="money")


async def _read(notification: Notification[AboutProblem], tx: Transaction) -> OrderInAlarm | None:
    return await load_order(tx, notification.payload.reference)
