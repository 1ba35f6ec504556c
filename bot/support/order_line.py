"""The line of an order in support's messages: of one of ours, or of one that only the service knows."""

from bot.infra.i18n import Html, Translator
from bot.orders.screens.formatting import format_order_line
from bot.support.service_orders import ServiceOrder, Subject


def format_subject_line(t: Translator, subject: Subject) -> Html:
    """Return the line of an order."""
    return format_service_order_line(t, subject) if isinstance(subject, ServiceOrder) else format_order_line(t, subject)


def format_service_order_line(t: Translator, order: ServiceOrder) -> Html:
    """Return the line of an order that only the service knows. It doesn't need the record."""
    return t("support.service_order.line", id=order.service_id)
