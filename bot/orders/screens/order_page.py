"""The page of an order: its recipient, its price, its timeline, and what the user can do now."""

from collections.abc import Sequence

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.order import UNCERTAIN_PHASES, Order, OrderEvent, OrderStatus, Phase
from bot.orders.screens import status_message
from bot.orders.screens import timeline as order_timeline
from bot.orders.screens.formatting import format_channel, format_payout_reference, order_button, repeat_button
from bot.orders.screens.open_orders import status_emoji, status_key
from bot.orders.screens.order_messages import REASON_SHOWN
from bot.recipients.formatting import format_destination
from bot.settlement.steps import COMPLETED

CAN_CHANGE = frozenset({*UNCERTAIN_PHASES, Phase.NEEDS_CONFIRMATION, Phase.OPEN})
"""The phases in which the status of an order can change at any moment."""


def screen(reader: Reader, order: Order, events: Sequence[OrderEvent], *, help_offered: bool) -> Screen:
    """Return the page. `events` are those of the order, the oldest first."""
    parts = (
        _heading(reader, order),
        _price(reader.t, order),
        order_timeline.format_timeline(reader, order, events),
        *_remarks(reader, order, events),
    )
    return Screen("\n\n".join(parts), _keyboard(reader, order, help_offered=help_offered))


def _heading(reader: Reader, order: Order) -> str:
    t, now = reader.t, reader.now
    _, rupiah = order.last_price
    return t(
        "orders.order_page.heading_named" if order.holder else "orders.order_page.heading",
        mark=status_emoji(order, now),
        state=t(status_key(order, now)),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        holder=clip(order.holder or ""),
    )


def _price(t: Translator, order: Order) -> str:
    sats, _ = order.last_price
    is_locked = order.has_shown_price
    kind = ("paid" if order.is_paid else "price") if is_locked else "reviewed"
    lines = [t(f"orders.order_page.{kind}", sats=t.sats(sats), channel=format_channel(t, order.channel))]
    if is_locked and order.btc_idr is not None:
        lines.append(t("orders.order_page.rate", rate=t.rate(order.btc_idr)))
    lines.append(t("orders.order_page.reference", reference=order.reference))
    if order.service_id:
        lines.append(t("orders.order_page.service_id", id=quote_input(order.service_id)))
    lines += format_payout_reference(t, order)
    return "\n".join(lines)


def _remarks(reader: Reader, order: Order, events: Sequence[OrderEvent]) -> tuple[Html | str, ...]:
    """Return what was unusual, what the status means, and what is no longer possible."""
    t = reader.t
    late = [t("orders.order_page.late")] if order.is_paid and order.expiry_notified and not order.has_failed else []
    was_asked = any(event.phase is Phase.NEEDS_CONFIRMATION for event in events)
    # The question can also be whether the order is the user's. Then its price may be the reviewed one.
    has_moved = order.has_shown_price and order.last_price != (order.expected_sats, order.expected_idr)
    moved = [_moved(t, order)] if was_asked and has_moved else []
    forgotten = [] if order.has_recipient else [t("orders.order_page.forgotten")]
    return (*moved, *late, _meaning(reader, order), *forgotten)


def _moved(t: Translator, order: Order) -> Html:
    sats, rupiah = order.last_price
    return t(
        "orders.order_page.price_moved",
        reviewed=t.sats(order.expected_sats),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=t.sats(sats),
        locked_idr=t.rupiah(rupiah),
    )


def _meaning(reader: Reader, order: Order) -> Html | str:
    t, status, reason = reader.t, order.status(reader.now), (order.payer_refusal or "").strip()
    if status is OrderStatus.REFUSED and reason:
        return t("orders.order_page.refused_because", reason=clip(reason, REASON_SHOWN))
    if status in MEANINGS:
        return t(MEANINGS[status])
    return status_message.explain_status(reader, order)


MEANINGS = {
    OrderStatus.PLACING: "orders.order_page.placing",
    OrderStatus.CHECKING: "orders.order_page.checking",
    OrderStatus.UNRESOLVED: "orders.order_page.unresolved",
    OrderStatus.NEEDS_CONFIRMATION: "orders.order_page.held",
    OrderStatus.OFFER_OVER: "orders.order_page.offer_over",
    OrderStatus.REFUSED: "orders.order_page.refused",
    OrderStatus.CLOSED: "orders.order_page.closed",
}


def _keyboard(reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(reader.t, order, label, action, style)

    rows: list[tuple[Button, ...]] = []
    status = order.status(reader.now)
    if status in {OrderStatus.UNRESOLVED, OrderStatus.NEEDS_CONFIRMATION}:
        rows.append((button("orders.button.decide", OrderAction.RESEND_STATUS, "primary"),))
    elif order.phase is Phase.OPEN:
        rows.append((button("orders.button.card", OrderAction.RESEND_STATUS),))
    if order.may_be_sent_again(reader.now) and status is OrderStatus.OFFER_OVER:
        rows.append((repeat_button(reader.t, order, "orders.button.requote", OrderAction.REQUOTE, "primary"),))
    elif order.may_be_sent_again(reader.now):
        rows.append((repeat_button(reader.t, order, "orders.button.resend", OrderAction.RESEND, "primary"),))
    if order.state == COMPLETED:
        rows.append((button("orders.button.receipt", OrderAction.RECEIPT),))
    if help_offered:
        rows.append((button("orders.button.help", OrderAction.HELP),))
    can_change = order.phase in CAN_CHANGE or order.is_closed_unpaid
    refresh = (button("orders.button.refresh", OrderAction.REFRESH_PAGE),) if can_change else ()
    return (*rows, (button("orders.button.history", OrderAction.SHOW_LIST), *refresh))
