"""The timeline of an order: one line for each event, below its day if that isn't today."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.settlement.steps import FAILED, OrderStep, step_after

TEXT_OF_NOTE: Mapping[EventNote, str | None] = {
    EventNote.INTENDED: "timeline.confirmed",
    EventNote.PRICE_ACCEPTED: "timeline.price_accepted",
    EventNote.DROPPED: "timeline.dropped",
    EventNote.TRIED_AGAIN: "timeline.tried_again",
    EventNote.OFFER_OVER: "timeline.offer_over",
    EventNote.OUTSIDE_LIMITS: "timeline.outside_limits",
    EventNote.SUPERSEDED: "timeline.superseded",
    EventNote.DEPOSIT_TAKEN: "timeline.deposit_taken",
    EventNote.EXPIRED: "step.expired",
    EventNote.OVERDUE: "timeline.stuck",
    EventNote.PAYMENT: None,
    EventNote.INVOICE_REPLACED: None,
}
"""The key of an event's text, by its note. Only support sees events without a text."""

TEXT_OF_PHASE = {
    Phase.INTENDED: "timeline.confirmed",
    Phase.UNKNOWN: "timeline.checking",
    Phase.UNRESOLVED: "timeline.unresolved",
    Phase.REFUSED: "timeline.refused",
    Phase.NEEDS_CONFIRMATION: "timeline.held",
}
CREATED, PAID, EXPIRED = "step.created", "step.paid", "step.expired"

TimelineEntry = tuple[datetime, str]
"""The time of an entry, and the key of its text."""


def format_timeline(reader: Reader, order: Order, events: Sequence[OrderEvent]) -> str:
    """Return the timeline as text."""
    t, lines_shown = reader.t, list[str]()
    today = day = reader.format_day(reader.now)
    for at, key in build_entries(order, events):
        if (this_day := reader.format_day(at)) != day:
            lines_shown.append(t("timeline.today") if this_day == today else t("timeline.day", day=this_day))
            day = this_day
        lines_shown.append(t("timeline.line", at=t.clock(at, reader.zone), what=t(key)))
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
    return [(at, key) for key, at in found.items()] or [(order.created_at, "timeline.confirmed")]


def _key(order: Order, event: OrderEvent, step: OrderStep, found: dict[str, datetime]) -> str | None:
    if event.note in TEXT_OF_NOTE:
        return TEXT_OF_NOTE[EventNote(event.note)]
    if event.phase in TEXT_OF_PHASE:
        return TEXT_OF_PHASE[event.phase]
    if event.phase is Phase.ABANDONED:
        # Only an order that the service has created has a locked price.
        return "timeline.given_up" if order.sats is None else "timeline.not_agreed"
    if event.state == FAILED:
        return "step.failed" if order.has_failed else EXPIRED
    if step is OrderStep.CREATED:
        return None if "timeline.held" in found else CREATED
    return _payment(found) if step is OrderStep.PAID else f"step.{step.name.lower()}"


def _payment(found: dict[str, datetime]) -> str:
    """Return the key of the payment. A payment after the expiry has another key, the same in all entries."""
    late = "timeline.paid_late"
    return late if late in found or (EXPIRED in found and PAID not in found) else PAID


def _is_after_shown(event: OrderEvent) -> bool:
    return event.phase in {Phase.OPEN, Phase.DONE}
