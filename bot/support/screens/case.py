"""A case as support sees it: the facts, what is unusual, the user's other orders and tickets, and the timeline.

The buttons of all pages about cases are here, too. The text always fits one message, because the timeline is shortened.
What a customer is filling in is shown with the number masked, and nothing that they typed is repeated.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo

from bot.checkout.answers import waiting_number
from bot.checkout.draft import DraftStatus, OrderDraft, Refusal
from bot.checkout.screens import format_draft_line
from bot.core.locales import FALLBACK
from bot.infra.i18n import Html, Translator, as_html, choose_locale, get_zone_name
from bot.infra.outbox.model import KEEP_SENT, StoredNotification
from bot.infra.telegram.ui.reader import Reader, clip, quote_input
from bot.infra.telegram.ui.screen import TEXT_UNITS, Button, count_visible_units
from bot.orders.buttons import OrderAction
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.orders.screens.formatting import (
    format_channel,
    format_order_line,
    format_payer,
    format_payout_reference,
    format_price_line,
)
from bot.orders.screens.order_lists import staff_status_key, status_emoji
from bot.payments.tokens import LIGHTNING
from bot.recipients.formatting import format_destination
from bot.recipients.numbers import mask_number
from bot.settlement.model import FAILED, STEP_OF_STATE
from bot.staff.buttons import LookupButton, LookupPage
from bot.support.buttons import RevealAction, RevealButton, button
from bot.support.cases import MAX_OTHERS, UNDELIVERED, Case, DeliveryState, get_delivery_state, is_not_agreed
from bot.support.model import Ticket
from bot.support.notifications import TicketNotification
from bot.users.model import RecordedEvent, UserEvent, press_event

SHOWN = MAX_OTHERS - 1
"""How many other orders, and how many other tickets, are shown."""


def format_case(reader: Reader, case: Case, *, before: str = "") -> Html:
    """Return `before` and the whole case, in at most the length of a message."""
    known = (
        before,
        format_facts(reader, case),
        format_anomalies(reader.t, case),
        format_draft(reader, case.draft) if case.draft is not None else "",
        format_others(reader, case),
    )
    parts = [part for part in known if part]
    units = TEXT_UNITS - count_visible_units("\n\n".join(parts))
    history = format_timeline(reader, case, units)
    return Html("\n\n".join([*parts, history] if history else parts))


def format_facts(reader: Reader, case: Case) -> str:
    """Return the order's amount and masked destination, and its user's id and language."""
    order = case.order
    return "\n".join([*(_order_lines(reader, order) if order else ()), _user_line(reader, case)])


def format_anomalies(t: Translator, case: Case) -> str:
    """Return what is unusual in the case; empty if nothing is."""
    parts = [f"• {t(f'support.case.unusual.{anomaly}')}" for anomaly in case.anomalies]
    return "\n".join([t("support.case.unusual"), *parts]) if parts else ""


def format_others(reader: Reader, case: Case, but: str = "") -> str:
    """Return the user's other open orders, and their tickets except the ticket `but`."""
    t = reader.t
    tickets = [ticket for ticket in case.tickets if ticket.reference != but]
    parts = [format_order_state(reader, order) for order in case.others[:SHOWN]]
    parts += [format_ticket_line(reader, ticket) for ticket in tickets[:SHOWN]]
    has_more = len(case.others) > SHOWN or len(tickets) > SHOWN
    lines = [*(f"• {line}" for line in parts), *([t("support.case.others_more")] if has_more else [])]
    return "\n".join([t("support.case.others"), *lines]) if parts else ""


def format_timeline(reader: Reader, case: Case, units: int = TEXT_UNITS) -> str:
    """Return the timeline in at most so many visible `units`. It is collapsed until it is tapped."""
    if case.order is None:
        return ""
    t, zone, now = reader.t, reader.zone, reader.now
    heading = t("support.case.timeline", zone=get_zone_name(now.astimezone(zone), zone))
    if not case.notifications and case.order.created_at < now - KEEP_SENT:
        heading = Html(f"{heading}\n{t('support.case.news_forgotten', days=KEEP_SENT.days)}")
    lines = _format_lines(reader, case, units - count_visible_units(heading) - 3)
    return f"{heading}\n<blockquote expandable>{lines}</blockquote>" if lines else ""


def format_ticket_line(reader: Reader, ticket: Ticket) -> Html:
    """Return a ticket as a list shows it: reference, status, and the agent who holds it."""
    t = reader.t
    status = "closed" if not ticket.is_open else "unclaimed" if ticket.claimed_by is None else "claimed"
    status_text = t(f"support.case.ticket.{status}", by=reader.format_staff(ticket.claimed_by or 0))
    return t("support.case.ticket", reference=ticket.reference, status=status_text)


def format_language(t: Translator, case: Case) -> str:
    """Return the name of the user's language, in the language of `t`."""
    user = case.user
    locale = choose_locale(user.locale, user.language_code) if user else FALLBACK
    return t.language(locale)


def user_row(t: Translator, user_id: int) -> tuple[Button, ...]:
    """Return the button to a user's page, or no button for a deleted user."""
    if not user_id:
        return ()
    return (button(t, "support.lookup.person", LookupButton(LookupPage.USER, str(user_id))),)


def reveal_button(t: Translator, reference: str) -> Button:
    """Return the button that starts a reveal."""
    return button(t, "support.reveal.button", RevealButton(reference, RevealAction.ASK))


def evidence_button(t: Translator, order: Order | None) -> tuple[Button, ...]:
    """Return the button to the evidence of an order, or no button if there is none."""
    if order is None or not order.evidence:
        return ()
    data = LookupButton(LookupPage.EVIDENCE, order.reference).pack()
    return (Button(t.plain("support.evidence.button"), data=data),)


def _order_lines(reader: Reader, order: Order) -> Iterator[str]:
    t, now = reader.t, reader.now
    yield t(
        "support.case.heading",
        mark=status_emoji(order, now),
        state=t(staff_status_key(order, now)),
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=format_destination(order.method, order.number),
    )
    yield t("support.case.reference", reference=order.reference)
    if order.hides_recipient:
        yield t("support.case.from_link")
    if order.outcome is not None:
        yield t("support.case.outcome", outcome=t(f"staff.alarm.outcome_{order.outcome}"))
    if order.service_id:
        yield t("support.case.service_id", id=quote_input(order.service_id))
    yield from format_payout_reference(t, order)
    yield format_price_line(t, order)


def _user_line(reader: Reader, case: Case) -> Html:
    t = reader.t
    if not case.user_id:
        return t("orders.payer.deleted") if case.order is None else format_payer(t, case.order)
    return t("support.case.person", user=reader.format_user(case.user_id), language=format_language(t, case))


def format_order_state(reader: Reader, order: Order) -> Html:
    """Return an order as a list shows it: its line, and its state now."""
    t = reader.t
    return t("support.case.other", line=format_order_line(t, order), state=t(staff_status_key(order, reader.now)))


LEFT_OUT = "…"
"""Stands for a part of a refusal that the customer may have typed."""


def format_draft(reader: Reader, draft: OrderDraft) -> Html:
    """Return the question that is open, the answers so far, and why an answer was refused last."""
    return Html("\n".join(_draft_lines(reader, draft)))


def _draft_lines(reader: Reader, draft: OrderDraft) -> Iterator[str]:
    t = reader.t
    is_open = draft.status is DraftStatus.OPEN and reader.now < draft.expires_at
    key = "support.draft.open" if is_open else "support.draft.paused"
    yield t(key, at=reader.format_time(draft.changed_at, round_up=False))
    yield t("support.draft.step", step=t(f"support.draft.step.{draft.step}"))
    if draft.terms is not None:
        yield t("support.draft.request")
    if answers := format_draft_line(t, draft):
        yield answers
    if draft.number is None and draft.doubtful_number:
        yield t("support.draft.doubtful", number=mask_number(draft.doubtful_number))
        waiting = waiting_number(draft)
        if waiting is not None and waiting.remark is not None:
            yield t.translate(waiting.remark)
    if draft.channel != LIGHTNING:
        yield t("support.draft.channel", channel=format_channel(t, draft.channel))
    if draft.refusal is not None:
        yield _format_refusal(reader, draft.refusal)


def _format_refusal(reader: Reader, refusal: Refusal) -> Html:
    t = reader.t

    def show(value: int | datetime | None) -> object:
        if value is None:
            return LEFT_OUT
        return reader.format_time(value) if isinstance(value, datetime) else value

    return t(
        "support.draft.doubted" if refusal.is_doubt else "support.draft.refused",
        at=reader.format_time(refusal.at, round_up=False),
        step=t(f"support.draft.step.{refusal.step}"),
        reason=t(refusal.key, **{name: show(value) for name, value in refusal.arguments.items()}),
    )


KEY_OF_NOTE: Mapping[str, str] = {
    EventNote.INTENDED: "support.case.event.confirmed",
    EventNote.PRICE_ACCEPTED: "support.case.event.price_accepted",
    EventNote.DROPPED: "support.case.event.dropped",
    EventNote.TRIED_AGAIN: "support.case.event.tried_again",
    EventNote.OFFER_OVER: "support.case.event.offer_over",
    EventNote.OUTSIDE_LIMITS: "support.case.event.outside_limits",
    EventNote.SUPERSEDED: "support.case.event.superseded",
    EventNote.LINK_OVER: "support.case.event.link_over",
    EventNote.WITHDRAWN: "support.case.event.withdrawn",
    EventNote.DEPOSIT_TAKEN: "support.case.event.deposit_taken",
    EventNote.EXPIRED: "support.case.event.expired",
    EventNote.OVERDUE: "support.case.event.stuck",
    EventNote.PAYMENT: "support.case.event.payment",
    EventNote.INVOICE_REPLACED: "support.case.event.invoice_replaced",
}
KEY_OF_PHASE: Mapping[Phase, str] = {
    Phase.INTENDED: "support.case.event.confirmed",
    Phase.UNKNOWN: "support.case.event.unknown",
    Phase.UNRESOLVED: "support.case.event.unresolved",
    Phase.REFUSED: "support.case.event.refused",
    Phase.NEEDS_CONFIRMATION: "support.case.event.held",
}
UNUSUAL_KEYS = frozenset(
    {
        "support.case.event.unknown",
        "support.case.event.unresolved",
        "support.case.event.refused",
        "support.case.event.held",
        "support.case.event.stuck",
        "support.case.event.invoice_replaced",
        "support.case.event.not_agreed",
        "support.case.event.given_up",
    }
)
UNUSUAL_USER_EVENTS = frozenset({UserEvent.BLOCKED, UserEvent.CAME_BACK})
KNOWN_NOTIFICATIONS = frozenset({*OrderNotification, *TicketNotification})
"""The kinds of notifications that have a text. Others are shown by their name."""

ROUTINE_KINDS = frozenset(
    {OrderNotification.EDIT_STATUS, OrderNotification.REMOVE_INVOICE, OrderNotification.REPLACE_QR_CODE}
)
"""Kinds of notifications whose failure doesn't matter to the user."""

KNOWN_USER_EVENTS = frozenset({*map(str, UserEvent), *map(press_event, OrderAction)})
"""The events of users that have a text. Others are shown by their name."""

LONG_WAIT = timedelta(minutes=1)
MAX_FAILURE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One event, or `times` equal events in a row from `at` to `until`. `what` is HTML."""

    at: datetime
    what: str
    is_unusual: bool = False
    until: datetime | None = None
    times: int = 1


def _format_lines(reader: Reader, case: Case, units: int) -> str:
    """Return the timeline of a case in at most so many visible `units`; empty if it has no event or none fits."""
    t, zone = reader.t, reader.zone
    found = list_entries(t, case, zone)
    headings = {day: _heading(reader, day) for day in {each.at.astimezone(zone).date() for each in found}}
    written = [Line(headings[each.at.astimezone(zone).date()], _line(t, each, zone), each.is_unusual) for each in found]
    return shorten_lines(t, written, t("orders.timeline.today"), units)


def list_entries(t: Translator, case: Case, zone: tzinfo) -> list[TimelineEntry]:
    """Return the events of a case, oldest first. Equal events in a row are merged."""
    order = case.order
    if order is None:
        return []
    seen = [
        *(entry for event in case.events if (entry := _of_event(t, order, event, zone))),
        *(_of_notification(t, notification) for notification in case.notifications),
        *(_of_user_event(t, event) for event in case.user_events),
    ]
    return list(_merge_repeated(sorted(seen, key=lambda entry: entry.at)))


def _of_event(t: Translator, order: Order, event: OrderEvent, zone: tzinfo) -> TimelineEntry | None:
    key = _key(order, event)
    by_clock = t("support.case.service_at", at=t.seconds(event.service_at, zone)) if event.service_at else ""
    if key is not None:
        text, is_unusual = t(key), key in UNUSUAL_KEYS
    elif event.state:
        text, is_unusual = _state(t, event.state), event.state == FAILED or event.state not in {*STEP_OF_STATE, FAILED}
    else:
        text, is_unusual = t("support.case.event.made"), False
    return TimelineEntry(event.at, f"{text}{by_clock}", is_unusual)


def _key(order: Order, event: OrderEvent) -> str | None:
    if event.note in KEY_OF_NOTE:
        return KEY_OF_NOTE[event.note]
    if event.phase in KEY_OF_PHASE:
        return KEY_OF_PHASE[event.phase]
    if event.phase is Phase.ABANDONED:
        return "support.case.event.not_agreed" if is_not_agreed(order, event) else "support.case.event.given_up"
    return None


def _state(t: Translator, state: str) -> Html:
    step = STEP_OF_STATE.get(state)
    known = (
        t("orders.step.failed")
        if state == FAILED
        else t(f"orders.step.{step.name.lower()}")
        if step is not None
        else "?"
    )
    return t("support.case.state", what=known, state=quote_input(state))


def _of_notification(t: Translator, notification: StoredNotification) -> TimelineEntry:
    kind, state = notification.kind, get_delivery_state(notification)
    what = t(f"support.case.told.{kind}") if kind in KNOWN_NOTIFICATIONS else quote_input(kind)
    why = clip(notification.failure or "", MAX_FAILURE_CHARACTERS)
    text = t("support.case.told", what=what, reach=t(f"support.case.reach.{state}", why=why))
    at = notification.sent_at or notification.created_at
    if state is DeliveryState.SENT and at - notification.created_at >= LONG_WAIT:
        text = Html(text + t("support.case.waited", duration=t.duration(at - notification.created_at)))
    if notification.maybe_sent and state is DeliveryState.SENT:
        text = Html(text + t("support.case.maybe_twice"))
    return TimelineEntry(at, text, state in UNDELIVERED and kind not in ROUTINE_KINDS)


def _of_user_event(t: Translator, event: RecordedEvent) -> TimelineEntry:
    return TimelineEntry(
        event.at, t("support.case.did", what=format_user_event(t, event.event)), event.event in UNUSUAL_USER_EVENTS
    )


def format_user_event(t: Translator, event: str) -> Html:
    """Return the text for an event of the user."""
    return t(f"support.user_event.{event}") if event in KNOWN_USER_EVENTS else as_html(quote_input(event))


def _merge_repeated(found: Sequence[TimelineEntry]) -> Iterator[TimelineEntry]:
    last: TimelineEntry | None = None
    for entry in found:
        if last is not None and (last.what, last.is_unusual) == (entry.what, entry.is_unusual):
            last = replace(last, until=entry.at, times=last.times + 1)
            continue
        if last is not None:
            yield last
        last = entry
    if last is not None:
        yield last


def _heading(reader: Reader, day: date) -> str:
    t, zone = reader.t, reader.zone
    noon = datetime.combine(day, time(12), zone)
    is_today = day == reader.now.astimezone(zone).date()
    return t("orders.timeline.today") if is_today else t("orders.timeline.day", day=reader.format_day(noon))


def _line(t: Translator, entry: TimelineEntry, zone: tzinfo) -> str:
    mark = "⚠️ " if entry.is_unusual else ""
    if entry.times == 1 or entry.until is None:
        return t("support.case.line", at=t.seconds(entry.at, zone), what=Html(mark + entry.what))
    span = {"at": t.seconds(entry.at, zone), "until": t.seconds(entry.until, zone)}
    return t("support.case.line_repeated", **span, what=Html(mark + entry.what), count=entry.times)


MIN_LINE_UNITS = 12
"""Units of the shortest possible line. They limit how many lines can fit."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of HTML under the `heading` of its day."""

    heading: str
    text: str
    is_unusual: bool = False
    units: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", count_visible_units(self.text) + 1)


def shorten_lines(t: Translator, lines: Sequence[Line], heading: str, units: int) -> str:
    """Return the lines that fit into so many `units`. Lines under `heading` don't repeat it at the start."""
    order = sorted(range(len(lines)), key=lambda place: (lines[place].is_unusual, place))

    def keep(gone: int) -> list[Line]:
        return [lines[place] for place in sorted(order[gone:])]

    def fits(gone: int) -> bool:
        kept = keep(gone)
        heads = sum(count_visible_units(head) + 1 for head in _heads(kept, heading) if head)
        return sum(line.units for line in kept) + heads + count_visible_units(_folded(t, gone)) <= units

    least = max(0, len(lines) - units // MIN_LINE_UNITS)
    gone = bisect_left(range(len(lines)), x=True, lo=least, key=fits)
    kept = keep(gone)
    parts = (part for head, line in zip(_heads(kept, heading), kept, strict=True) for part in (head, line.text) if part)
    return "\n".join([*([_folded(t, gone)] if gone else []), *parts]) if kept else ""


def _heads(kept: Sequence[Line], heading: str) -> Iterator[str]:
    """Yield the heading before each line, or "" if it is the same as for the line before."""
    for line in kept:
        yield "" if line.heading == heading else line.heading
        heading = line.heading


def _folded(t: Translator, count: int) -> str:
    return t("support.case.folded", count=count)
