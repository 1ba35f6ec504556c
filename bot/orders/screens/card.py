"""The one card of an order that lives: made, paid, converting, sending rupiah, sent."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import OrderAction
from bot.orders.order import Order, OrderStatus, Phase
from bot.orders.screens.buttons import order_button
from bot.recipients.formatting import format_destination, place_key
from bot.settlement.steps import COMPLETED, FAILED, Step
from bot.users.screens.buttons import send_row

DONE, NOW, NEXT, BROKEN, OVER = "✅", "⏳", "▫️", "❌", "⌛"


def screen(t: Translator, order: Order, now: datetime, zone: tzinfo, *, help_offered: bool) -> Screen:
    """Where the order stands, with the buttons that make sense there."""
    text = "\n\n".join((_heading(t, order, now), _timeline(t, order, now), remark(t, order, now, zone)))
    # Not under the news that it was sent: there the receipt follows by itself.
    receipt = (
        ((order_button(t, order, "button.receipt", OrderAction.RECEIPT),),)
        if order.state == COMPLETED and order.has_recipient
        else ()
    )
    return Screen(text, (*keyboard(t, order, now, help_offered=help_offered), *receipt))


def keyboard(t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    """Buttons of the card, and of the news that point to it."""
    rows: list[tuple[Button, ...]] = []
    if order.status(now) in {OrderStatus.EXPIRED, OrderStatus.FAILED_UNPAID}:
        rows.append((order_button(t, order, "button.requote", OrderAction.REQUOTE, "primary"),))
    if order.phase is Phase.OPEN:
        rows.append((order_button(t, order, "button.refresh", OrderAction.REFRESH_STATUS),))
    if help_offered and leads_to_a_person(order):
        rows.append((order_button(t, order, "button.help", OrderAction.HELP),))
    if order.state == COMPLETED:
        resend = order_button(t, order, "button.resend", OrderAction.RESEND)
        rows.append((resend,) if order.has_recipient else send_row(t))
    return tuple(rows)


def leads_to_a_person(order: Order) -> bool:
    """Whether its sender may want to talk to somebody about it."""
    return order.state == FAILED or (order.is_paid and not order.is_ended)


def _heading(t: Translator, order: Order, now: datetime) -> str:
    amount, destination = t.rupiah(order.idr or order.expected_idr), format_destination(order.method, order.number)
    heading = t(
        "card.heading_named" if order.holder else "card.heading",
        amount=amount,
        destination=destination,
        holder=clip(order.holder or ""),
    )
    return "\n".join((heading, *_price(t, order, now), t("card.reference", reference=order.reference)))


def _price(t: Translator, order: Order, now: datetime) -> tuple[Html, ...]:
    """The line with the price: "To pay" only as long as it can be paid, and nothing after an expiry."""
    sats = t.sats(order.sats or order.expected_sats)
    if order.is_paid:
        return (t("card.price_paid", sats=sats),)
    match order.status(now):
        case OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID:
            return (t("card.price_failed", sats=sats),)
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return ()
        case _:
            return (t("card.price_to_pay", sats=sats),)


def _timeline(t: Translator, order: Order, now: datetime) -> str:
    """One line a step. What won't be reached any more is left out."""
    reached = max(order.step, Step.PAID) if order.is_paid else order.step
    lines = [f"{DONE} {_name(t, step)}" for step in Step if step < reached]
    if order.has_failed and _goes_on(reached):
        return "\n".join([*lines, f"{BROKEN} <b>{_name(t, reached)}</b>"])
    lines.append(f"{NOW if _goes_on(reached) else DONE} <b>{_name(t, reached)}</b>")
    if order.has_failed:
        return "\n".join([*lines, f"{BROKEN} <b>{t('step.failed')}</b>"])
    if order.status(now) is OrderStatus.EXPIRED:
        return "\n".join([*lines, f"{OVER} <b>{t('step.expired')}</b>"])
    if order.is_given_up:
        return "\n".join(lines)
    if reached is Step.CREATED:
        lines.append(f"{NOW} {t('step.payment')}")
    first = Step.CONVERTING if reached is Step.CREATED else reached + 1
    return "\n".join([*lines, *(f"{NEXT} {_name(t, step)}" for step in Step if step >= first)])


def _goes_on(step: Step) -> bool:
    """Whether a step takes time, rather than being reached in a moment."""
    return step in {Step.CONVERTING, Step.SENDING}


def _name(t: Translator, step: Step) -> Html:
    return t(f"step.{step.name.lower()}")


def remark(t: Translator, order: Order, now: datetime, zone: tzinfo) -> str:
    """What the state of an order that was shown means to its sender."""
    match order.status(now):
        case OrderStatus.SENT:
            return t(f"card.sent_{place_key(order.method)}")
        case OrderStatus.FAILED_PAID | OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID as failed:
            return t(f"card.{failed}")
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING:
            return t("card.stuck" if order.is_overdue else "card.paid")
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return t("order_page.given_up" if order.is_given_up else "card.expired")
    until = order.expires_at
    waits = t("card.waiting") if until is None else t("card.pay_before", at=format_clock(t, until, zone))
    return f"{waits}\n{t('card.may_not_pay')}"
