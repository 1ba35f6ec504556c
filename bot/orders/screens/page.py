"""All there is to know of one order: whom it was for, what it cost, what happened when, and what can be done now."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.order import LOOKED_FOR, Order, OrderEvent, OrderStatus, Phase
from bot.orders.screens import card
from bot.orders.screens import timeline as order_timeline
from bot.orders.screens.buttons import order_button
from bot.orders.screens.formatting import format_channel
from bot.orders.screens.outcome import REASON_SHOWN
from bot.orders.screens.status import mark, state_key
from bot.recipients.formatting import format_destination
from bot.settlement.steps import COMPLETED

CHANGES = frozenset({*LOOKED_FOR, Phase.NEEDS_CONFIRMATION, Phase.OPEN})
"""An order in these may stand differently a moment later."""


def screen(
    t: Translator, order: Order, events: Sequence[OrderEvent], now: datetime, zone: tzinfo, *, help_offered: bool
) -> Screen:
    """The page. `events` are the order's, oldest first."""
    parts = (
        _heading(t, order, now),
        _figures(t, order),
        order_timeline.lines(t, order, events, now, zone),
        *_remarks(t, order, events, now, zone),
    )
    return Screen("\n\n".join(parts), _keyboard(t, order, now, help_offered=help_offered))


def _heading(t: Translator, order: Order, now: datetime) -> str:
    _, rupiah = order.last_price
    return t(
        "order_page.heading_named" if order.holder else "order_page.heading",
        mark=mark(order, now),
        state=t(state_key(order, now)),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        holder=clip(order.holder or ""),
    )


def _figures(t: Translator, order: Order) -> str:
    sats, _ = order.last_price
    is_locked = order.has_shown_price
    kind = ("paid" if order.is_paid else "price") if is_locked else "reviewed"
    lines = [t(f"order_page.{kind}", sats=t.sats(sats), channel=format_channel(t, order.channel))]
    if is_locked and order.btc_idr is not None:
        lines.append(t("order_page.rate", rate=t.rate(order.btc_idr)))
    lines.append(t("order_page.reference", reference=order.reference))
    if order.service_id:
        lines.append(t("order_page.service_id", id=quote_input(order.service_id)))
    return "\n".join(lines)


def _remarks(
    t: Translator, order: Order, events: Sequence[OrderEvent], now: datetime, zone: tzinfo
) -> tuple[Html | str, ...]:
    """What was unusual, what the state means, and what can't be done any more."""
    late = [t("order_page.late")] if order.is_paid and order.expiry_notified else []
    was_held = any(event.phase is Phase.NEEDS_CONFIRMATION for event in events)
    moved = [_moved(t, order)] if was_held and order.has_shown_price else []
    forgotten = [] if order.has_recipient else [t("order_page.forgotten")]
    return (*moved, *late, _meaning(t, order, now, zone), *forgotten)


def _moved(t: Translator, order: Order) -> Html:
    sats, rupiah = order.last_price
    return t(
        "order_page.price_moved",
        reviewed=t.sats(order.expected_sats),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=t.sats(sats),
        locked_idr=t.rupiah(rupiah),
    )


def _meaning(t: Translator, order: Order, now: datetime, zone: tzinfo) -> Html | str:
    status, reason = order.status(now), (order.refusal or "").strip()
    if status is OrderStatus.REFUSED and reason:
        return t("order_page.refused_because", reason=clip(reason, REASON_SHOWN))
    if status in MEANINGS:
        return t(MEANINGS[status])
    return card.remark(t, order, now, zone)


MEANINGS = {
    OrderStatus.CHECKING: "order_page.checking",
    OrderStatus.UNRESOLVED: "order_page.unresolved",
    OrderStatus.NEEDS_CONFIRMATION: "order_page.held",
    OrderStatus.OFFER_OVER: "order_page.offer_over",
    OrderStatus.REFUSED: "order_page.refused",
    OrderStatus.CLOSED: "order_page.closed",
}


def _keyboard(t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(t, order, label, action, style)

    rows: list[tuple[Button, ...]] = []
    if order.phase in {Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION}:
        rows.append((button("button.decide", OrderAction.RESEND_STATUS, "primary"),))
    elif order.phase is Phase.OPEN:
        rows.append((button("button.card", OrderAction.RESEND_STATUS),))
    if order.may_be_sent_again(now):
        rows.append((button("button.resend", OrderAction.RESEND, "primary"),))
    if order.state == COMPLETED:
        rows.append((button("button.receipt", OrderAction.RECEIPT),))
    if help_offered:
        rows.append((button("button.help", OrderAction.HELP),))
    refresh = (button("button.refresh", OrderAction.REFRESH_PAGE),) if order.phase in CHANGES else ()
    return (*rows, (button("button.history", OrderAction.SHOW_LIST), *refresh))
