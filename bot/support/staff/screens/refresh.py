"""What a refresh of an order has found."""

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.orders.order import Order, Phase
from bot.settlement.model import OrderReport

NOTHING_SAID = "-"


def differences(t: Translator, before: Order, after: Order, report: OrderReport) -> list[Html]:
    """Return one line for each difference, also where the order has ended for us but not for the service."""
    said = []
    if report.state != before.state:
        key = "staff_ticket.state" if after.state == report.state else "staff_ticket.state_not_taken"
        said.append(t(key, before=quote_input(before.state or NOTHING_SAID), after=quote_input(report.state)))
    if after.is_paid and not before.is_paid:
        said.append(t("staff_ticket.now_paid"))
    if said and before.phase not in {Phase.OPEN, Phase.DONE}:
        said.append(t("staff_ticket.not_followed"))
    return said
