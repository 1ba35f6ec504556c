"""Messages about an order: what happened, whether money left the wallet, and what the user can do.

We promise nothing that only the service decides. Its answers don't say what happens to the money of a failed order, so
support has to find out.
"""

from dataclasses import replace

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.notification_kinds import OrderNotification
from bot.orders.order import Failure, HoldReason, Order, OrderStatus
from bot.orders.payment_details import get_transfer
from bot.orders.screens import status_message
from bot.orders.screens.formatting import (
    format_failed_payout_policy,
    format_order_line,
    format_payout_reference,
    order_button,
    repeat_button,
)
from bot.rates.model import price_drift_percent
from bot.recipients.formatting import format_method, group_digits
from bot.users.buttons import send_row

REASON_SHOWN = 200

ANSWERS = {
    OrderNotification.PRICE_MOVED: (
        ("orders.button.accept_price", OrderAction.ACCEPT),
        ("orders.button.no_thanks", OrderAction.DROP),
    ),
    OrderNotification.RECIPIENT_MASKED: (
        ("orders.button.found_is_mine", OrderAction.ACCEPT),
        ("orders.button.found_not_mine", OrderAction.DROP),
    ),
    OrderNotification.UNRESOLVED: (
        ("orders.button.try_again", OrderAction.TRY_AGAIN),
        ("orders.button.drop", OrderAction.DROP),
    ),
}
"""The two answers to each question: the key of the label, and the action."""

QUESTION_OF = {
    HoldReason.PRICE_CHANGED: OrderNotification.PRICE_MOVED,
    HoldReason.RECIPIENT_MASKED: OrderNotification.RECIPIENT_MASKED,
}
"""The question that the user is asked, by its reason."""


def screen(
    kind: OrderNotification,
    reader: Reader,
    order: Order,
    *,
    help_offered: bool,
    staff_notified: bool = False,
    policy_url: str = "",
    ticket: Screen | None = None,
) -> Screen:
    """Return the message. It always says which order it is about.

    `staff_notified` says whether the staff are notified of payments without a payout. `policy_url` is the address of
    the policy on failed payouts, if there is one. `ticket` is what is said about the ticket that was opened for a
    payment problem.
    """
    if is_payment_problem(kind, order):
        problem = _payment_problem(kind, reader, order, help_offered=help_offered, staff_notified=staff_notified)
        if ticket is not None:
            problem = Screen(f"{_describe_payment(kind, reader, order)}\n\n{ticket.text}", ticket.keyboard)
        if kind is not OrderNotification.FAILED:
            return problem
        more = (*format_payout_reference(reader.t, order), *format_failed_payout_policy(reader.t, policy_url))
        return replace(problem, text="\n\n".join((problem.text, *more)))
    return Screen(_text(kind, reader, order), _keyboard(kind, reader, order, help_offered=help_offered))


def status_screen(reader: Reader, order: Order, *, help_offered: bool) -> Screen:
    """Return the status message of an order, or the question or result that takes its place."""
    match order.status(reader.now):
        case OrderStatus.PLACING:
            t = reader.t
            return Screen(t("orders.placing", line=format_order_line(t, order)))
        case OrderStatus.CHECKING:
            kind = OrderNotification.CHECKING
        case OrderStatus.UNRESOLVED:
            kind = OrderNotification.UNRESOLVED
        case OrderStatus.NEEDS_CONFIRMATION | OrderStatus.OFFER_OVER:
            kind = QUESTION_OF[order.hold_reason or HoldReason.PRICE_CHANGED]
        case OrderStatus.REFUSED:
            kind = OrderNotification.REFUSED
        case OrderStatus.CLOSED:
            t = reader.t
            return Screen(t("orders.dropped", line=format_order_line(t, order)), (send_row(t),))
        case _:
            return status_message.screen(reader, order, help_offered=help_offered)
    return screen(kind, reader, order, help_offered=help_offered)


def _text(kind: OrderNotification, reader: Reader, order: Order) -> Html:
    t = reader.t
    line = format_order_line(t, order)
    match kind:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED:
            is_over = order.is_offer_over(reader.now)
            return t("orders.notification.offer_over", line=line) if is_over else _question(kind, t, order, line)
        case OrderNotification.REFUSED | OrderNotification.OUTSIDE_LIMITS | OrderNotification.DEPOSIT_TAKEN:
            return _explain_no_invoice(kind, t, order, line)
        case OrderNotification.FAILED:
            return t("orders.notification.failed_unpaid", line=line)
        case _:
            return t(f"orders.notification.{kind}", line=line)


def _question(kind: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    sats, idr = order.sats or 0, order.idr or 0
    if kind is OrderNotification.RECIPIENT_MASKED:
        # Its price may have changed as well. Users who say that the order is theirs agree to the price shown here.
        return t(
            "orders.notification.recipient_masked",
            line=line,
            sats=t.sats(sats),
            idr=t.rupiah(idr),
            reviewed=t.sats(order.expected_sats),
            reviewed_idr=t.rupiah(order.expected_idr),
            number=group_digits(order.payer_number),
        )
    drift = price_drift_percent(expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=sats, idr=idr)
    return t(
        "orders.notification.price_too_good" if drift < 0 else "orders.notification.price_moved",
        line=line,
        reviewed=t.sats(order.expected_sats),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=t.sats(sats),
        locked_idr=t.rupiah(idr),
    )


def _explain_no_invoice(kind: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    cap, locked = order.method.cap, order.idr or 0
    if kind is OrderNotification.DEPOSIT_TAKEN:
        return t("orders.notification.deposit_taken", line=line, sats=t.sats(order.sats or 0))
    if kind is OrderNotification.OUTSIDE_LIMITS and cap == 0:
        return t("orders.notification.destination_closed", line=line, name=format_method(order.method))
    if kind is OrderNotification.OUTSIDE_LIMITS and cap is not None and locked > cap:
        return t(
            "orders.notification.locked_above_cap",
            line=line,
            idr=t.rupiah(locked),
            cap=cap,
            name=format_method(order.method),
        )
    if kind is OrderNotification.OUTSIDE_LIMITS:
        return t("orders.notification.locked_below_minimum", line=line, idr=t.rupiah(locked))
    if not order.payer_refusal:
        return t("orders.notification.refused", line=line)
    return t("orders.notification.refused_because", line=line, reason=clip(order.payer_refusal.strip(), REASON_SHOWN))


def _keyboard(kind: OrderNotification, reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(reader.t, order, label, action, style)

    match kind:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED if order.is_offer_over(reader.now):
            return ((repeat_button(reader.t, order, "orders.button.requote", OrderAction.REQUOTE, "primary"),),)
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED | OrderNotification.UNRESOLVED:
            (yes, action), (no, drop) = ANSWERS[kind]
            return ((button(yes, action, "primary"),), (button(no, drop),))
        case OrderNotification.SUPERSEDED:
            return (send_row(reader.t, style=None),)
        case (
            OrderNotification.REFUSED
            | OrderNotification.NOT_SHOWN
            | OrderNotification.OUTSIDE_LIMITS
            | OrderNotification.DEPOSIT_TAKEN
            | OrderNotification.LINK_PAUSED
            | OrderNotification.OFFER_OVER
        ):
            return ((repeat_button(reader.t, order, "orders.button.back_to_review", OrderAction.REQUOTE, "primary"),),)
        case OrderNotification.CHECKING | OrderNotification.CONVERTING | OrderNotification.SENDING:
            return ()
        case _:
            return status_message.keyboard(reader, order, help_offered=help_offered)


def is_payment_problem(kind: OrderNotification, order: Order) -> bool:
    """Return whether the order was paid, or may have been, and no rupiah were sent."""
    return kind is OrderNotification.STUCK or (kind is OrderNotification.FAILED and order.failure is not Failure.UNPAID)


def _payment_problem(
    kind: OrderNotification, reader: Reader, order: Order, *, help_offered: bool, staff_notified: bool
) -> Screen:
    """Return the message about a payment problem: what we know, what happens next, and how to reach support."""
    help_button = order_button(reader.t, order, "orders.button.help", OrderAction.HELP)
    without_staff = "orders.notification.ask_a_person" if help_offered else "orders.notification.keep_reference"
    next_step = reader.t("orders.notification.staff_know" if staff_notified else without_staff)
    text = f"{_describe_payment(kind, reader, order)}\n\n{next_step}"
    return Screen(text, ((help_button,),) if help_offered else ())


def _describe_payment(kind: OrderNotification, reader: Reader, order: Order) -> Html:
    t = reader.t
    line = format_order_line(t, order)
    if kind is OrderNotification.FAILED and order.failure is Failure.UNKNOWN:
        transfer = get_transfer(order)
        return t("orders.notification.failed_unknown", line=line, amount=transfer.amount, symbol=transfer.token.symbol)
    failed = "failed_paid_late" if order.expiry_notified else "failed_paid"
    return t(
        f"orders.notification.{kind if kind is OrderNotification.STUCK else failed}",
        line=line,
        paid=t.sats(order.sats or order.expected_sats),
        at=reader.format_time(order.paid_at or reader.now, round_up=False),
    )
