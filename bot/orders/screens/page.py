"""All there is to know of one order: whom it was for, what it cost, what happened when, and what can be done now."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.order import LOOKED_FOR, Order, OrderEvent, Phase
from bot.orders.resend import has_shown_price, last_price, may_be_sent_again
from bot.orders.screens import card
from bot.orders.screens import timeline as order_timeline
from bot.orders.screens.buttons import order_button
from bot.orders.screens.formatting import format_channel
from bot.orders.screens.outcome import REASON_SHOWN
from bot.orders.screens.status import mark, state_key
from bot.orders.tracking.intervals import offer_is_over
from bot.recipients.formatting import format_destination
from bot.settlement.steps import COMPLETED

CHANGES = frozenset({*LOOKED_FOR, Phase.HELD, Phase.OPEN})
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
    _, rupiah = last_price(order)
    return t(
        "order_page.heading_named" if order.holder else "order_page.heading",
        mark=mark(order, now),
        state=t(state_key(order, now)),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        holder=clip(order.holder or ""),
    )


def _figures(t: Translator, order: Order) -> str:
    sats, _ = last_price(order)
    is_locked = has_shown_price(order)
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
    late = [t("order_page.late")] if order.is_paid and order.expiry_told else []
    was_held = any(event.phase is Phase.HELD for event in events)
    moved = [_moved(t, order)] if was_held and has_shown_price(order) else []
    forgotten = [] if order.has_recipient else [t("order_page.forgotten")]
    return (*moved, *late, _meaning(t, order, now, zone), *forgotten)


def _moved(t: Translator, order: Order) -> Html:
    sats, rupiah = last_price(order)
    return t(
        "order_page.price_moved",
        reviewed=t.sats(order.expected_sats),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=t.sats(sats),
        locked_idr=t.rupiah(rupiah),
    )


def _meaning(t: Translator, order: Order, now: datetime, zone: tzinfo) -> Html | str:
    if order.phase is Phase.REFUSED and (reason := (order.refusal or "").strip()):
        return t("order_page.refused_because", reason=clip(reason, REASON_SHOWN))
    if order.phase is Phase.HELD and offer_is_over(order, now):
        return t("order_page.offer_over")
    if order.phase in MEANINGS:
        return t(MEANINGS[order.phase])
    return card.remark(t, order, now, zone)


MEANINGS = {
    Phase.INTENDED: "order_page.checking",
    Phase.UNKNOWN: "order_page.checking",
    Phase.UNRESOLVED: "order_page.unresolved",
    Phase.HELD: "order_page.held",
    Phase.REFUSED: "order_page.refused",
    Phase.UNSHOWN: "order_page.closed",
}


def _keyboard(t: Translator, order: Order, now: datetime, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(t, order, label, action, style)

    rows: list[tuple[Button, ...]] = []
    if order.phase in {Phase.UNRESOLVED, Phase.HELD}:
        rows.append((button("button.decide", OrderAction.RESEND_STATUS, "primary"),))
    elif order.phase is Phase.OPEN:
        rows.append((button("button.card", OrderAction.RESEND_STATUS),))
    if may_be_sent_again(order, now):
        rows.append((button("button.resend", OrderAction.RESEND, "primary"),))
    if order.state == COMPLETED:
        rows.append((button("button.receipt", OrderAction.RECEIPT),))
    if help_offered:
        rows.append((button("button.help", OrderAction.HELP),))
    refresh = (button("button.refresh", OrderAction.REFRESH_PAGE),) if order.phase in CHANGES else ()
    return (*rows, (button("button.history", OrderAction.SHOW_LIST), *refresh))
