"""The timeline of an order: one line for each event, below its day if that isn't today."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.settlement.steps import FAILED, OrderStep, step_after


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
    EventNote.OVERDUE: "orders.timeline.stuck",
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
