"""Warnings to operators about orders. They show masked facts, never an account number or a name."""

from datetime import datetime

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notification_kinds import AboutProblem, OrderWarning
from bot.orders.order import Failure, Order
from bot.orders.screens.formatting import format_order_line, format_payer
from bot.orders.screens.open_orders import staff_status_key

MAX_COMPLAINT = 300


def screen(kind: OrderWarning, t: Translator, order: Order | None, problem: AboutProblem, now: datetime) -> Screen:
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
