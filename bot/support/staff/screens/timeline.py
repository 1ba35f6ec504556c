"""An order's timeline as support reads it: the service's states, the notifications, and what the user did."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import StoredNotification
from bot.infra.telegram.ui.formatting import clip, quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.settlement.steps import FAILED, STEP_OF_STATE
from bot.support.cases import Case, Reach, is_not_agreed, reach_of
from bot.support.notifications.kinds import TicketNotification
from bot.support.staff.screens import activity as staff_acts
from bot.support.staff.screens.folding import Line, fitted
from bot.users.model import RecordedEvent, UserEvent

OF_NOTE: Mapping[str, str] = {
    EventNote.INTENDED: "case.event.confirmed",
    EventNote.PRICE_ACCEPTED: "case.event.price_accepted",
    EventNote.DROPPED: "case.event.dropped",
    EventNote.TRIED_AGAIN: "case.event.tried_again",
    EventNote.OFFER_OVER: "case.event.offer_over",
    EventNote.OUTSIDE_LIMITS: "case.event.outside_limits",
    EventNote.SUPERSEDED: "case.event.superseded",
    EventNote.DEPOSIT_TAKEN: "case.event.deposit_taken",
    EventNote.EXPIRED: "case.event.expired",
    EventNote.STUCK: "case.event.stuck",
    EventNote.PAYMENT: "case.event.payment",
    EventNote.INVOICE_REPLACED: "case.event.invoice_replaced",
}
OF_PHASE: Mapping[Phase, str] = {
    Phase.INTENDED: "case.event.confirmed",
    Phase.UNKNOWN: "case.event.unknown",
    Phase.UNRESOLVED: "case.event.unresolved",
    Phase.REFUSED: "case.event.refused",
    Phase.NEEDS_CONFIRMATION: "case.event.held",
}
UNUSUAL = frozenset(
    {
        "case.event.unknown",
        "case.event.unresolved",
        "case.event.refused",
        "case.event.held",
        "case.event.stuck",
        "case.event.invoice_replaced",
        "case.event.not_agreed",
        "case.event.given_up",
    }
)
UNUSUAL_ACTS = frozenset({UserEvent.BLOCKED, UserEvent.CAME_BACK})
TOLD = frozenset(
    {
        OrderNotification.CHECKING,
        OrderNotification.UNRESOLVED,
        OrderNotification.REFUSED,
        OrderNotification.PRICE_MOVED,
        OrderNotification.NOT_SHOWN,
        OrderNotification.OUTSIDE_LIMITS,
        OrderNotification.SUPERSEDED,
        OrderNotification.DEPOSIT_TAKEN,
        OrderNotification.RECIPIENT_MASKED,
        OrderNotification.INVOICE,
        OrderNotification.INVOICE_TEXT,
        OrderNotification.CARD,
        OrderNotification.CARD_EDIT,
        OrderNotification.TAKE_DOWN,
        OrderNotification.TAKE_DOWN_PICTURE,
        OrderNotification.PAID,
        OrderNotification.PAID_LATE,
        OrderNotification.CONVERTING,
        OrderNotification.SENDING,
        OrderNotification.SENT,
        OrderNotification.RECEIPT,
        OrderNotification.FAILED,
        OrderNotification.EXPIRED,
        OrderNotification.STUCK,
        *TicketNotification,
    }
)
"""The news that have a name here; another's is shown as it is filed."""

ROUTINE_NEWS = frozenset(
    {OrderNotification.CARD_EDIT, OrderNotification.TAKE_DOWN, OrderNotification.TAKE_DOWN_PICTURE}
)
"""Edits that only tidy up: it doesn't matter if one wasn't delivered."""

LONG_WAIT = timedelta(minutes=1)
WHY_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Happening:
    """One event, or `times` the same in a row, the last of them at `until`. `what` is HTML."""

    at: datetime
    what: str
    is_unusual: bool = False
    until: datetime | None = None
    times: int = 1


def lines(reader: Reader, case: Case, room: int) -> str:
    """Return the timeline of a case in at most `room` visible units; empty where nothing is known, or nothing fits."""
    t, zone = reader.t, reader.zone
    found = happenings(t, case, zone)
    headings = {day: _heading(reader, day) for day in {each.at.astimezone(zone).date() for each in found}}
    written = [Line(headings[each.at.astimezone(zone).date()], _line(t, each, zone), each.is_unusual) for each in found]
    return fitted(t, written, t("timeline.today"), room)


def happenings(t: Translator, case: Case, zone: tzinfo) -> list[Happening]:
    """Return all that is known, oldest first; equal events in a row are one."""
    order = case.order
    if order is None:
        return []
    seen = [
        *(happening for event in case.events if (happening := _of_event(t, order, event, zone))),
        *(_of_news(t, news) for news in case.news),
        *(_of_act(t, act) for act in case.acts),
    ]
    return list(_merged(sorted(seen, key=lambda happening: happening.at)))


def _of_event(t: Translator, order: Order, event: OrderEvent, zone: tzinfo) -> Happening | None:
    key = _key(order, event)
    by_clock = t("case.service_at", at=t.seconds(event.service_at, zone)) if event.service_at else ""
    if key is not None:
        said, is_unusual = t(key), key in UNUSUAL
    elif event.state:
        said, is_unusual = _state(t, event.state), event.state == FAILED or event.state not in {*STEP_OF_STATE, FAILED}
    else:
        said, is_unusual = t("case.event.made"), False
    return Happening(event.at, f"{said}{by_clock}", is_unusual)


def _key(order: Order, event: OrderEvent) -> str | None:
    if event.note in OF_NOTE:
        return OF_NOTE[event.note]
    if event.phase in OF_PHASE:
        return OF_PHASE[event.phase]
    if event.phase is Phase.ABANDONED:
        return "case.event.not_agreed" if is_not_agreed(order, event) else "case.event.given_up"
    return None


def _state(t: Translator, state: str) -> Html:
    step = STEP_OF_STATE.get(state)
    known = t("step.failed") if state == FAILED else t(f"step.{step.name.lower()}") if step is not None else "?"
    return t("case.state", what=known, state=quote_input(state))


def _of_news(t: Translator, news: StoredNotification) -> Happening:
    kind, reach = news.kind, reach_of(news)
    what = t(f"case.told.{kind}") if kind in TOLD else quote_input(kind)
    why = clip(news.failure or "", WHY_SHOWN)
    said = t("case.told", what=what, reach=t(f"case.reach.{reach}", why=why))
    at = news.told_at or news.created_at
    if reach is Reach.SENT and at - news.created_at >= LONG_WAIT:
        said = Html(said + t("case.waited", duration=t.duration(at - news.created_at)))
    if news.maybe_told and reach is Reach.SENT:
        said = Html(said + t("case.maybe_twice"))
    return Happening(at, said, reach in {Reach.BLOCKED, Reach.FAILED} and kind not in ROUTINE_NEWS)


def _of_act(t: Translator, act: RecordedEvent) -> Happening:
    return Happening(act.at, t("case.did", what=staff_acts.name(t, act.what)), act.what in UNUSUAL_ACTS)


def _merged(found: Sequence[Happening]) -> Iterator[Happening]:
    last: Happening | None = None
    for happening in found:
        if last is not None and (last.what, last.is_unusual) == (happening.what, happening.is_unusual):
            last = replace(last, until=happening.at, times=last.times + 1)
            continue
        if last is not None:
            yield last
        last = happening
    if last is not None:
        yield last


def _heading(reader: Reader, day: date) -> str:
    t, zone = reader.t, reader.zone
    noon = datetime.combine(day, time(12), zone)
    is_today = day == reader.now.astimezone(zone).date()
    return t("timeline.today") if is_today else t("timeline.day", day=reader.format_day(noon))


def _line(t: Translator, happening: Happening, zone: tzinfo) -> str:
    mark = "⚠️ " if happening.is_unusual else ""
    if happening.times == 1 or happening.until is None:
        return t("case.line", at=t.seconds(happening.at, zone), what=Html(mark + happening.what))
    span = {"at": t.seconds(happening.at, zone), "until": t.seconds(happening.until, zone)}
    return t("case.line_repeated", **span, what=Html(mark + happening.what), count=happening.times)
