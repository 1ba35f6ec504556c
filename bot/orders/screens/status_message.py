"""The status message of a paid order. It arrives with the payment, and is edited at each step until the order is sent.

Before the payment, the message to pay with shows the status. This one then answers those who ask for it.
"""

from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import OrderAction
from bot.orders.notification_kinds import OrderNotification
from bot.orders.order import Order, OrderStatus, Phase
from bot.orders.screens.formatting import order_button, repeat_button
from bot.recipients.formatting import format_destination, kind_key
from bot.settlement.steps import COMPLETED, FAILED, OrderStep
from bot.users.buttons import send_row

NOT_SEEN_PAID = frozenset({OrderStatus.EXPIRED, OrderStatus.GIVEN_UP, OrderStatus.FAILED_UNPAID})
"""The statuses in which it is too late to pay. Its user may have paid all the same."""

DONE, NOW, NEXT, BROKEN, OVER = "✅", "⏳", "▫️", "❌", "⌛"


def screen(reader: Reader, order: Order, *, help_offered: bool, is_last: bool = True) -> Screen:
    """Return the status message, with the buttons for the status.

    `is_last` says that no receipt follows, so this message says that the rupiah were sent, and has the buttons for it.
    """
    t = reader.t
    if order.state == COMPLETED and not is_last:
        return Screen("\n\n".join((_heading(reader, order), _timeline(reader, order))))
    text = "\n\n".join((_headline(reader, order), _timeline(reader, order), *_explain_further(reader, order)))
    receipt = (
        ((order_button(t, order, "orders.button.receipt", OrderAction.RECEIPT),),)
        if order.state == COMPLETED and order.has_recipient
        else ()
    )
    return Screen(text, (*keyboard(reader, order, help_offered=help_offered), *receipt))


def keyboard(reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    """Return the buttons of the status message, and of most notifications."""
    t = reader.t
    rows: list[tuple[Button, ...]] = []
    if order.may_be_shown(reader.now):
        rows.append((order_button(t, order, "orders.button.show_payment", OrderAction.RESEND_STATUS, "primary"),))
    if may_have_been_paid(order, reader.now):
        rows.append((order_button(t, order, "orders.button.have_paid", OrderAction.REFRESH_STATUS),))
    elif order.phase is Phase.OPEN:
        rows.append((order_button(t, order, "orders.button.refresh", OrderAction.REFRESH_STATUS),))
    if may_have_been_paid(order, reader.now) and order.status(reader.now) is not OrderStatus.GIVEN_UP:
        rows.append((repeat_button(t, order, "orders.button.requote", OrderAction.REQUOTE),))
    if help_offered and (may_need_help(order) or may_have_been_paid(order, reader.now)):
        rows.append((order_button(t, order, "orders.button.help", OrderAction.HELP),))
    if order.state == COMPLETED:
        resend = repeat_button(t, order, "orders.button.resend", OrderAction.RESEND)
        rows.append((resend,) if order.can_be_repeated else send_row(t))
    return tuple(rows)


def may_have_been_paid(order: Order, now: datetime) -> bool:
    """Return whether it is too late to begin to pay, and its user may have paid all the same."""
    return order.status(now) in NOT_SEEN_PAID or (order.awaits_payment(now) and order.is_ending(now))


def may_need_help(order: Order) -> bool:
    """Return whether the user may need support for this order."""
    return order.state == FAILED or (order.is_paid and not order.is_ended)


def _headline(reader: Reader, order: Order) -> str:
    """Return what the order is, and that the payment arrived or the rupiah were sent."""
    t, heading = reader.t, Html(_heading(reader, order))
    match order.status(reader.now):
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING:
            kind = OrderNotification.PAID_LATE if order.expiry_notified else OrderNotification.PAID
            at = reader.format_clock(order.paid_at or reader.now)
            return t(f"orders.notification.{kind}", line=heading, at=at)
        case OrderStatus.SENT:
            return t(f"orders.notification.sent_{kind_key(order.method)}", line=heading)
    return heading


def _explain_further(reader: Reader, order: Order) -> tuple[str, ...]:
    """Return what the status means for the user, unless the headline has said it."""
    match order.status(reader.now):
        case OrderStatus.SENT:
            return ()
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING if not order.is_overdue:
            return ()
    return (explain_status(reader, order),)


def _heading(reader: Reader, order: Order) -> str:
    t = reader.t
    amount, destination = t.rupiah(order.idr or order.expected_idr), format_destination(order.method, order.number)
    heading = t(
        "orders.card.heading_named" if order.holder else "orders.card.heading",
        amount=amount,
        destination=destination,
        holder=clip(order.holder or ""),
    )
    return "\n".join((heading, *_price(reader, order), t("orders.card.reference", reference=order.reference)))


def _price(reader: Reader, order: Order) -> tuple[Html, ...]:
    """Return the line with the price. After an expiry there is none."""
    t, sats = reader.t, reader.t.sats(order.sats or order.expected_sats)
    if order.is_paid:
        return (t("orders.card.price_paid", sats=sats),)
    match order.status(reader.now):
        case OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID:
            return (t("orders.card.price_failed", sats=sats),)
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return ()
        case _:
            return (t("orders.card.price_to_pay", sats=sats),)


def _timeline(reader: Reader, order: Order) -> str:
    """Return one line for each step. Steps that can no longer be reached are left out."""
    t = reader.t
    reached = max(order.step, OrderStep.PAID) if order.is_paid else order.step
    lines = [f"{DONE} {_name(t, step)}" for step in OrderStep if step < reached]
    if order.has_failed and _is_slow(reached):
        return "\n".join([*lines, f"{BROKEN} <b>{_name(t, reached)}</b>"])
    lines.append(f"{NOW if _is_slow(reached) else DONE} <b>{_name(t, reached)}</b>")
    if order.has_failed:
        return "\n".join([*lines, f"{BROKEN} <b>{t('orders.step.failed')}</b>"])
    if order.status(reader.now) is OrderStatus.EXPIRED:
        return "\n".join([*lines, f"{OVER} <b>{t('orders.step.expired')}</b>"])
    if order.is_given_up:
        return "\n".join(lines)
    if reached is OrderStep.CREATED:
        lines.append(f"{NOW} {t('orders.step.payment')}")
    first = OrderStep.CONVERTING if reached is OrderStep.CREATED else reached + 1
    return "\n".join([*lines, *(f"{NEXT} {_name(t, step)}" for step in OrderStep if step >= first)])


def _is_slow(step: OrderStep) -> bool:
    """Return whether a step takes time. The others are over at once."""
    return step in {OrderStep.CONVERTING, OrderStep.SENDING}


def _name(t: Translator, step: OrderStep) -> Html:
    return t(f"orders.step.{step.name.lower()}")


def explain_status(reader: Reader, order: Order) -> str:
    """Return what the status of a shown order means for its user."""
    t = reader.t
    match order.status(reader.now):
        case OrderStatus.SENT:
            return t(f"orders.card.sent_{kind_key(order.method)}")
        case OrderStatus.FAILED_PAID | OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID as failed:
            return t(f"orders.card.{failed}{'_late' if order.is_paid and order.expiry_notified else ''}")
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING:
            return t("orders.card.stuck" if order.is_overdue else "orders.card.paid")
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return t("orders.order_page.given_up" if order.is_given_up else "orders.card.expired")
    until = order.expires_at
    if order.is_ending(reader.now):
        return t("orders.card.ending", at=reader.format_clock(until or reader.now))
    waits = t("orders.card.waiting") if until is None else t("orders.card.pay_before", at=reader.format_clock(until))
    return f"{waits}\n{t('orders.card.may_not_pay')}"
