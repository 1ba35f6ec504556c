"""News of an order that is a message of its own: what happened, whether money left the wallet, and the way on."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import HoldReason, Order, OrderStatus
from bot.orders.screens import card
from bot.orders.screens import payment_problem as trouble
from bot.orders.screens.buttons import order_button
from bot.orders.screens.formatting import format_order_line
from bot.rates.quote import price_drift_percent
from bot.recipients.formatting import format_method, place_key
from bot.users.screens.buttons import send_row

REASON_SHOWN = 200

ANSWERS = {
    OrderNotification.PRICE_MOVED: (
        ("button.accept_price", OrderAction.ACCEPT),
        ("button.no_thanks", OrderAction.DROP),
    ),
    OrderNotification.RECIPIENT_MASKED: (
        ("button.found_is_mine", OrderAction.ACCEPT),
        ("button.found_not_mine", OrderAction.DROP),
    ),
    OrderNotification.UNRESOLVED: (("button.try_again", OrderAction.TRY_AGAIN), ("button.drop", OrderAction.DROP)),
}
"""The two answers to a question: label and action."""

NOTICE_OF_HOLD = {
    HoldReason.PRICE_CHANGED: OrderNotification.PRICE_MOVED,
    HoldReason.RECIPIENT_MASKED: OrderNotification.RECIPIENT_MASKED,
}
"""What stands for an order that has no card."""


def screen(
    notice: OrderNotification,
    t: Translator,
    order: Order,
    now: datetime,
    zone: tzinfo,
    *,
    help_offered: bool,
    staff_told: bool = False,
) -> Screen:
    """The message for `notice`. It always says which order it is about.

    `staff_told` says whether the staff hear of money that came in and went no further, as they do where there are any.
    """
    if trouble.is_told_by(notice, order):
        return trouble.screen(notice, t, order, now, zone, help_offered=help_offered, staff_told=staff_told)
    keyboard = _keyboard(notice, t, order, now, help_offered=help_offered)
    return Screen(_text(notice, t, order, now, zone), keyboard)


def state(t: Translator, order: Order, now: datetime, zone: tzinfo, *, help_offered: bool) -> Screen:
    """Where an order stands now, whatever became of it: its card, or what there is to know or decide instead."""
    match order.status(now):
        case OrderStatus.CHECKING:
            notice = OrderNotification.CHECKING
        case OrderStatus.UNRESOLVED:
            notice = OrderNotification.UNRESOLVED
        case OrderStatus.NEEDS_CONFIRMATION | OrderStatus.OFFER_OVER:
            notice = NOTICE_OF_HOLD[order.hold_reason or HoldReason.PRICE_CHANGED]
        case OrderStatus.REFUSED:
            notice = OrderNotification.REFUSED
        case OrderStatus.CLOSED:
            return Screen(t("order.dropped", line=format_order_line(t, order)), (send_row(t),))
        case _:
            return card.screen(t, order, now, zone, help_offered=help_offered)
    return screen(notice, t, order, now, zone, help_offered=help_offered)


def _text(notice: OrderNotification, t: Translator, order: Order, now: datetime, zone: tzinfo) -> Html:
    line = format_order_line(t, order)
    match notice:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED:
            return t("news.offer_over", line=line) if order.offer_is_over(now) else _question(notice, t, order, line)
        case OrderNotification.REFUSED | OrderNotification.OUTSIDE_LIMITS | OrderNotification.DEPOSIT_TAKEN:
            return _no_invoice(notice, t, order, line)
        case OrderNotification.FAILED:
            return t("news.failed_unpaid", line=line)
        case OrderNotification.SENT:
            return t(f"news.sent_{place_key(order.method)}", line=line)
        case OrderNotification.PAID | OrderNotification.PAID_LATE:
            return t(f"news.{notice}", line=line, at=format_clock(t, order.paid_at or now, zone))
        case _:
            return t(f"news.{notice}", line=line)


def _question(notice: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    sats, idr = order.sats or 0, order.idr or 0
    if notice is OrderNotification.RECIPIENT_MASKED:
        # Its price may have moved as well: whoever says that it is theirs agrees to what they see here.
        return t(
            "news.recipient_masked",
            line=line,
            sats=t.sats(sats),
            idr=t.rupiah(idr),
            reviewed=t.sats(order.expected_sats),
            reviewed_idr=t.rupiah(order.expected_idr),
        )
    drift = price_drift_percent(expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=sats, idr=idr)
    return t(
        "news.price_too_good" if drift < 0 else "news.price_moved",
        line=line,
        reviewed=t.sats(order.expected_sats),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=t.sats(sats),
        locked_idr=t.rupiah(idr),
    )


def _no_invoice(notice: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    cap, locked = order.method.cap, order.idr or 0
    if notice is OrderNotification.DEPOSIT_TAKEN:
        return t("news.deposit_taken", line=line, sats=t.sats(order.sats or 0))
    if notice is OrderNotification.OUTSIDE_LIMITS and cap is not None and locked > cap:
        return t("news.locked_above_cap", line=line, idr=t.rupiah(locked), cap=cap, name=format_method(order.method))
    if notice is OrderNotification.OUTSIDE_LIMITS:
        return t("news.locked_below_minimum", line=line, idr=t.rupiah(locked))
    if not order.refusal:
        return t("news.refused", line=line)
    return t("news.refused_because", line=line, reason=clip(order.refusal.strip(), REASON_SHOWN))


def _keyboard(notice: OrderNotification, t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(t, order, label, action, style)

    match notice:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED if order.offer_is_over(now):
            return ((button("button.requote", OrderAction.REQUOTE, "primary"),),)
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED | OrderNotification.UNRESOLVED:
            (yes, action), (no, drop) = ANSWERS[notice]
            return ((button(yes, action, "primary"),), (button(no, drop),))
        case OrderNotification.SUPERSEDED:
            return (send_row(t),)
        case (
            OrderNotification.REFUSED
            | OrderNotification.NOT_SHOWN
            | OrderNotification.OUTSIDE_LIMITS
            | OrderNotification.DEPOSIT_TAKEN
        ):
            return ((button("button.back_to_review", OrderAction.REQUOTE, "primary"),),)
        case (
            OrderNotification.CHECKING
            | OrderNotification.PAID
            | OrderNotification.CONVERTING
            | OrderNotification.SENDING
        ):
            return ()
        case _:
            return card.keyboard(t, order, now, help_offered=help_offered)
