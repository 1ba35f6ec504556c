"""The one card of an order that lives: created, paid, converting, sending rupiah, sent."""

from datetime import datetime, tzinfo

from bot.chat import data, words
from bot.chat.screen import Button, Keyboard, Screen
from bot.domain.order import Order, Phase
from bot.domain.timeline import COMPLETED, FAILED, Step
from bot.i18n import Html, Translator

DONE, NOW, NEXT, BROKEN = "✅", "⏳", "▫️", "❌"


def screen(t: Translator, order: Order, now: datetime, zone: tzinfo, *, help_offered: bool) -> Screen:
    """Where the order stands, with the buttons that make sense there."""
    heading = t(
        "card.heading",
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=words.destination(order.method, order.number),
        holder=order.holder or "",
        pay=t.sats(order.sats or order.expected_sats),
        reference=order.reference,
    )
    return Screen(
        f"{heading}\n\n{_timeline(t, order)}\n\n{_remark(t, order, now, zone)}".rstrip(),
        keyboard(t, order, now, help_offered=help_offered),
    )


def keyboard(t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    """Buttons of the card, and of the news that point to it."""
    rows: list[tuple[Button, ...]] = []
    lapsed = not order.is_paid and (order.is_ended or order.expiry_told or order.is_expired(now))
    if lapsed:
        rows.append(
            (Button(t.plain("button.requote"), data=data.for_order(order.reference, "requote"), style="primary"),)
        )
    if order.phase is Phase.OPEN:
        rows.append((Button(t.plain("button.refresh"), data=data.for_order(order.reference, "look")),))
    if help_offered and (order.state == FAILED or (order.is_paid and not order.is_ended)):
        rows.append((Button(t.plain("button.help"), data=data.for_order(order.reference, "help")),))
    if order.state == COMPLETED:
        rows.append((Button(t.plain("button.send_another"), data=data.NEW),))
    return tuple(rows)


def _timeline(t: Translator, order: Order) -> str:
    return "\n".join(f"{_mark(order, step)} {_step(t, order, step)}" for step in Step)


def _mark(order: Order, step: Step) -> str:
    if order.state == FAILED and step == order.step + 1:
        return BROKEN
    if step <= order.step:
        return DONE
    return NOW if step == order.step + 1 and not order.is_ended else NEXT


def _step(t: Translator, order: Order, step: Step) -> Html | str:
    name = t(f"step.{step.name.lower()}")
    return f"<b>{name}</b>" if step == order.step else name


def _remark(t: Translator, order: Order, now: datetime, zone: tzinfo) -> str:
    if order.state == COMPLETED:
        return t("card.sent")
    if order.state == FAILED and (order.is_paid or not order.expiry_told):
        return t("card.failed_paid" if order.is_paid else "card.failed_unpaid")
    if order.is_paid:
        return t("card.paid")
    if order.expiry_told or order.is_expired(now):
        return t("card.expired")
    if order.expires_at is not None:
        return t("card.pay_before", at=words.moment(t, order.expires_at, zone))
    return t("card.waiting")
