"""A payment came in, or may have, and no rupiah went out: what is known, what happens next, one button to a person.

Nothing is promised that the service alone decides: what becomes of the money of a failed order is no part of its
answers, so a person has to find out.
"""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_time
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import OrderAction
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import Failure, Order
from bot.orders.payable import transfer_of
from bot.orders.screens.buttons import order_button
from bot.orders.screens.formatting import format_order_line


def is_told_by(notice: OrderNotification, order: Order) -> bool:
    """Whether this piece of news is that."""
    return notice is OrderNotification.STUCK or (
        notice is OrderNotification.FAILED and order.failure is not Failure.UNPAID
    )


def screen(
    notice: OrderNotification,
    t: Translator,
    order: Order,
    now: datetime,
    zone: tzinfo,
    *,
    help_offered: bool,
    staff_told: bool,
) -> Screen:
    """The message. `staff_told` where there are staff, who hear of it at the same time."""
    text = _what_happened(notice, t, order, now, zone)
    ask = order_button(t, order, "button.help", OrderAction.HELP)
    next_step = t(_next_step(help_offered=help_offered, staff_told=staff_told))
    return Screen(f"{text}\n\n{next_step}", ((ask,),) if help_offered else ())


def _what_happened(notice: OrderNotification, t: Translator, order: Order, now: datetime, zone: tzinfo) -> Html:
    line = format_order_line(t, order)
    if notice is OrderNotification.FAILED and order.failure is Failure.UNKNOWN:
        transfer = transfer_of(order)
        return t("news.failed_unknown", line=line, amount=transfer.amount, symbol=transfer.token.symbol)
    return t(
        "news.stuck" if notice is OrderNotification.STUCK else "news.failed_paid",
        line=line,
        paid=t.sats(order.sats or order.expected_sats),
        at=format_time(t, order.paid_at or now, now, zone, up=False),
    )


def _next_step(*, help_offered: bool, staff_told: bool) -> str:
    if staff_told:
        return "news.staff_know"
    return "news.ask_a_person" if help_offered else "news.keep_reference"
