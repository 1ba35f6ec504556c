"""What happened to an order and when, in plain words: one line an event, under its day where that isn't today."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import format_day
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.settlement.steps import FAILED, Step, step_after

OF_NOTE: Mapping[EventNote, str | None] = {
    EventNote.INTENDED: "timeline.confirmed",
    EventNote.PRICE_ACCEPTED: "timeline.price_accepted",
    EventNote.DROPPED: "timeline.dropped",
    EventNote.TRIED_AGAIN: "timeline.tried_again",
    EventNote.OFFER_OVER: "timeline.offer_over",
    EventNote.OUTSIDE_LIMITS: "timeline.outside_limits",
    EventNote.SUPERSEDED: "timeline.superseded",
    EventNote.DEPOSIT_TAKEN: "timeline.deposit_taken",
    EventNote.EXPIRED: "step.expired",
    EventNote.STUCK: "timeline.stuck",
    EventNote.PAYMENT: None,
    EventNote.INVOICE_REPLACED: None,
}
"""What is nothing to a payer is only for support to see."""

OF_PHASE = {
    Phase.INTENDED: "timeline.confirmed",
    Phase.UNKNOWN: "timeline.checking",
    Phase.UNRESOLVED: "timeline.unresolved",
    Phase.REFUSED: "timeline.refused",
    Phase.NEEDS_CONFIRMATION: "timeline.held",
}
MADE, PAID, EXPIRED = "step.created", "step.paid", "step.expired"

Happening = tuple[datetime, str]
"""When, and the key of what is said of it."""


def lines(t: Translator, order: Order, events: Sequence[OrderEvent], now: datetime, zone: tzinfo) -> str:
    """The timeline as text; times and days are those of the person's `zone`."""
    said: list[str] = []
    today = day = format_day(t, now, now, zone)
    for at, key in happenings(order, events):
        if (this_day := format_day(t, at, now, zone)) != day:
            said.append(t("timeline.today") if this_day == today else t("timeline.day", day=this_day))
            day = this_day
        said.append(t("timeline.line", at=t.clock(at, zone), what=t(key)))
    return "\n".join(said)


def happenings(order: Order, events: Sequence[OrderEvent]) -> list[Happening]:
    """What there is to say, oldest first, each thing once.

    States that are one step to a person are one line, one that we don't know is told by the step it leaves the order
    in, and steps that were passed unseen leave no gap. Only a payment is never left out.
    """
    said: dict[str, datetime] = {}
    step = Step.CREATED
    for event in events:
        reached = step_after(step, event.state)
        if order.paid_at is not None and order.paid_at <= event.at and _is_followed(event):
            said.setdefault(_payment(said), order.paid_at)
        key = _key(order, event, reached, said)
        if key is not None:
            said.setdefault(key, event.at)
        step = reached
    return [(at, key) for key, at in said.items()] or [(order.created_at, "timeline.confirmed")]


def _key(order: Order, event: OrderEvent, step: Step, said: dict[str, datetime]) -> str | None:
    if event.note in OF_NOTE:
        return OF_NOTE[EventNote(event.note)]
    if event.phase in OF_PHASE:
        return OF_PHASE[event.phase]
    if event.phase is Phase.ABANDONED:
        # Only an order that the service has made has a price of its own.
        return "timeline.given_up" if order.sats is None else "timeline.not_agreed"
    if event.state == FAILED:
        return "step.failed" if order.has_failed else EXPIRED
    if step is Step.CREATED:
        return None if "timeline.held" in said else MADE
    return _payment(said) if step is Step.PAID else f"step.{step.name.lower()}"


def _payment(said: dict[str, datetime]) -> str:
    """The key of the payment: one that came after the expiry says so, and stays what it was called first."""
    late = "timeline.paid_late"
    return late if late in said or (EXPIRED in said and PAID not in said) else PAID


def _is_followed(event: OrderEvent) -> bool:
    return event.phase in {Phase.OPEN, Phase.DONE}
