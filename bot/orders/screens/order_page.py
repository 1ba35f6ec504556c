"""The page of an order: its recipient, its price, its timeline, and what the user can do now.

The timeline has one line for each event, below its day if that isn't today.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import OrderAction
from bot.orders.order import NOT_ENDED, STATUS_OF_PHASE, EventNote, Order, OrderEvent, OrderStatus, Phase
from bot.orders.screens import order_messages
from bot.orders.screens.formatting import (
    explain_refusal,
    format_payout_reference,
    format_price,
    format_price_line,
    order_button,
    repeat_button,
)
from bot.orders.screens.order_lists import status_emoji, status_key
from bot.recipients.formatting import format_destination
from bot.settlement.model import COMPLETED, FAILED, OrderStep, step_after


def screen(reader: Reader, order: Order, events: Sequence[OrderEvent], *, help_offered: bool) -> Screen:
    """Return the page. `events` are those of the order, the oldest first."""
    parts = (
        _heading(reader, order),
        _price(reader.t, order),
        format_timeline(reader, order, events),
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
    lines = [format_price_line(t, order)]
    if order.has_shown_price and order.btc_idr is not None:
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
        reviewed=format_price(t, order.expected_sats, order.channel),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=format_price(t, sats, order.channel),
        locked_idr=t.rupiah(rupiah),
    )


def _meaning(reader: Reader, order: Order) -> Html | str:
    t, status, reason = reader.t, order.status(reader.now), (order.payer_refusal or "").strip()
    if status is OrderStatus.REFUSED and reason:
        return t("orders.order_page.refused_because", reason=explain_refusal(t, reason))
    if status in NEVER_SHOWN:
        return t(f"orders.order_page.{status}")
    return order_messages.explain_status(reader, order)


NEVER_SHOWN = frozenset({*STATUS_OF_PHASE.values(), OrderStatus.NEEDS_CONFIRMATION, OrderStatus.OFFER_OVER})
"""The statuses of orders whose invoices were never shown."""


def _keyboard(reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(reader.t, order, label, action, style)

    rows: list[tuple[Button, ...]] = []
    status = order.status(reader.now)
    if status in {OrderStatus.UNRESOLVED, OrderStatus.NEEDS_CONFIRMATION}:
        rows.append((button("orders.button.decide", OrderAction.RESEND_STATUS, "primary"),))
    elif order.phase is Phase.OPEN:
        rows.append((button("orders.button.show_status", OrderAction.RESEND_STATUS),))
    if order.may_be_sent_again(reader.now) and status is OrderStatus.OFFER_OVER:
        rows.append((repeat_button(reader.t, order, "orders.button.requote", OrderAction.REQUOTE, "primary"),))
    elif order.may_be_sent_again(reader.now):
        rows.append((repeat_button(reader.t, order, "orders.button.resend", OrderAction.RESEND, "primary"),))
    if order.state == COMPLETED:
        rows.append((button("orders.button.receipt", OrderAction.RECEIPT),))
    if help_offered:
        rows.append((button("orders.button.help", OrderAction.HELP),))
    can_change = order.phase in NOT_ENDED or order.is_closed_unpaid
    refresh = (button("orders.button.refresh", OrderAction.REFRESH_PAGE),) if can_change else ()
    return (*rows, (button("orders.button.history", OrderAction.SHOW_LIST), *refresh))


class Entry(StrEnum):
    """The entries that decide how later ones are shown. Their values are the keys of their texts."""

    CREATED = "orders.step.created"
    PAID = "orders.step.paid"
    PAID_LATE = "orders.timeline.paid_late"
    EXPIRED = "orders.step.expired"
    HELD = "orders.timeline.held"


TEXT_OF_NOTE: Mapping[EventNote, str | None] = {
    EventNote.INTENDED: "orders.timeline.confirmed",
    EventNote.PRICE_ACCEPTED: "orders.timeline.price_accepted",
    EventNote.DROPPED: "orders.timeline.dropped",
    EventNote.TRIED_AGAIN: "orders.timeline.tried_again",
    EventNote.OFFER_OVER: "orders.timeline.offer_over",
    EventNote.OUTSIDE_LIMITS: "orders.timeline.outside_limits",
    EventNote.SUPERSEDED: "orders.timeline.superseded",
    EventNote.LINK_DELETED: "orders.timeline.link_deleted",
    EventNote.LINK_OVER: "orders.timeline.link_over",
    EventNote.WITHDRAWN: "orders.timeline.withdrawn",
    EventNote.DEPOSIT_TAKEN: "orders.timeline.deposit_taken",
    EventNote.EXPIRED: Entry.EXPIRED,
    EventNote.OVERDUE: "orders.timeline.overdue",
    EventNote.PAYMENT: None,
    EventNote.INVOICE_REPLACED: None,
}
"""The key of an event's text, by its note. Only support sees events without a text."""

TEXT_OF_PHASE = {
    Phase.INTENDED: "orders.timeline.confirmed",
    Phase.UNKNOWN: "orders.timeline.checking",
    Phase.UNRESOLVED: "orders.timeline.unresolved",
    Phase.REFUSED: "orders.timeline.refused",
    Phase.NEEDS_CONFIRMATION: Entry.HELD,
}

TimelineEntry = tuple[datetime, str]
"""The time of an entry, and the key of its text."""


def format_timeline(reader: Reader, order: Order, events: Sequence[OrderEvent]) -> str:
    """Return the timeline as text."""
    t, lines_shown = reader.t, list[str]()
    today = day = reader.format_day(reader.now)
    for at, key in build_entries(order, events):
        if (this_day := reader.format_day(at)) != day:
            lines_shown.append(
                t("orders.timeline.today") if this_day == today else t("orders.timeline.day", day=this_day)
            )
            day = this_day
        lines_shown.append(t("orders.timeline.line", at=t.clock(at, reader.zone), what=t(key)))
    return "\n".join(lines_shown)


def build_entries(order: Order, events: Sequence[OrderEvent]) -> list[TimelineEntry]:
    """Return the entries of the timeline, the oldest first, each once.

    States that are one step to users are one entry. An unknown state is shown as the step that the order is in. Steps
    that the bot didn't see are left out, except the payment.
    """
    found: dict[str, datetime] = {}
    step = OrderStep.CREATED
    for event in events:
        reached = step_after(step, event.state)
        if order.paid_at is not None and order.paid_at <= event.at and _is_after_shown(event):
            found.setdefault(_payment(found), order.paid_at)
        key = _key(order, event, reached, found)
        if key is not None:
            found.setdefault(key, event.at)
        step = reached
    return [(at, key) for key, at in found.items()] or [(order.created_at, "orders.timeline.confirmed")]


def _key(order: Order, event: OrderEvent, step: OrderStep, found: dict[str, datetime]) -> str | None:
    if event.note in TEXT_OF_NOTE:
        return TEXT_OF_NOTE[EventNote(event.note)]
    if event.phase in TEXT_OF_PHASE:
        return TEXT_OF_PHASE[event.phase]
    if event.phase is Phase.ABANDONED:
        # Only an order that the service has created has a locked price.
        return "orders.timeline.given_up" if order.sats is None else "orders.timeline.not_agreed"
    if event.state == FAILED:
        return "orders.step.failed" if order.has_failed else Entry.EXPIRED
    if step is OrderStep.CREATED:
        return None if Entry.HELD in found else Entry.CREATED
    return _payment(found) if step is OrderStep.PAID else f"orders.step.{step.name.lower()}"


def _payment(found: dict[str, datetime]) -> str:
    """Return the entry of the payment. A payment after the expiry is another one, the same in all entries."""
    is_late = Entry.PAID_LATE in found or (Entry.EXPIRED in found and Entry.PAID not in found)
    return Entry.PAID_LATE if is_late else Entry.PAID


def _is_after_shown(event: OrderEvent) -> bool:
    return event.phase in {Phase.OPEN, Phase.DONE}
