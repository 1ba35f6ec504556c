"""The ticket that an agent works on (`/next`): its order now, the customer's last words, a saved reply, and buttons.

A press acts only on what was shown: its button has the hash of that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape
from typing import Final

from bot.core.time_of_day import next_at
from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.reader import Reader, clip
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, in_rows
from bot.orders.order import OrderStatus
from bot.settlement.model import OrderReport
from bot.support.buttons import NextAction, NextButton, ReplyChoiceAction, ReplyChoiceButton, button, rows
from bot.support.cases import Case
from bot.support.entries import with_quote
from bot.support.model import TAG, SavedReply, Ticket, TicketEntry
from bot.support.saved_replies import LAST_WORDS, hash_text
from bot.support.screens.case import format_anomalies, format_draft, format_facts
from bot.support.screens.staff import format_differences, format_status, reopen_row

LAST_CHARACTERS: Final = 300
"""Characters of the customer's last message. The whole of it is in the ticket."""

CHOSEN: Final = "✓ "
MORNING: Final = 9 * 60
"""The minute of the agent's day that "tomorrow morning" is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an agent needs to work on a ticket.

    Attributes:
        report: what the service has just reported of the order. None if there is no order, or it didn't answer.
        last: what the customer wrote last.
        sent: what the agent has sent with this message.
        replies: the saved replies that fit the order's state, the best first.
        name, filled: the chosen one of them, and its text as the customer would read it. Empty if none fits.
        locale: the customer's language.
        undecided: how many messages of agents in the ticket haven't been sent.
        link: opens the ticket in the staff's group.
    """

    ticket: Ticket
    case: Case
    status: OrderStatus | None
    report: OrderReport | None
    last: TicketEntry | None
    sent: TicketEntry | None
    replies: Sequence[SavedReply]
    name: str
    filled: str
    locale: str
    undecided: int
    link: str | None

    def hash(self, *, with_reply: bool) -> str:
        """Return the hash of what the agent sees of the ticket, with the reply that a press would send."""
        said = (self.last.number, self.last.edited_at) if self.last else None
        order = self.case.order
        facts = (
            self.status,
            order and order.outcome,
            self.report and self.report.state,
            self.ticket.waiting_since,  # none after a reply, also one by another message
            said,
            self.filled if with_reply else "",
        )
        return hash_text(repr(tuple(map(str, facts))))


def show_work(reader: Reader, work: Work, *, notice: str = "", times: bool = False) -> Screen:
    """Return the ticket with what to do next, or (`times`) the question until when to set it aside."""
    parts = _parts(reader, work) if work.sent is None else (_sent(reader, work, work.sent),)
    # Apps leave a gap below a quote.
    asked = reader.t("support.next.until") if times else ""
    text = "\n\n".join(filter(None, (notice, *parts, asked))).replace("</blockquote>\n\n", "</blockquote>\n")
    if times:
        return Screen(text, _time_rows(reader, work))
    return Screen(text, _rows(reader.t, work) if work.sent is None else _sent_rows(reader.t, work))


def _sent(reader: Reader, work: Work, sent: TicketEntry) -> Html:
    """Say that the reply was queued, and whether the ticket is closed. A notification reports the delivery."""
    key = "support.next.sent" if work.ticket.is_open else "support.next.sent_and_closed"
    said = reader.t(key, ticket=work.ticket.reference, by=reader.format_staff(sent.author_id))
    return with_quote(said, sent.text)


def _sent_rows(t: Translator, work: Work) -> Keyboard:
    more = _wait_row(t, work) if work.ticket.is_open else reopen_row(t, work.ticket)
    return rows(more, next_row(t))


def show_paused(reader: Reader, ticket: Ticket) -> Screen:
    """Say until when the ticket is set aside."""
    t, by = reader.t, reader.format_staff(ticket.claimed_by or 0)
    shown = button(t, "support.next.show", NextButton(NextAction.SHOW, ticket.reference))
    text = t(
        "support.next.paused", ticket=ticket.reference, by=by, at=reader.format_time(ticket.paused_until or reader.now)
    )
    return Screen(text, (next_row(t), (shown,)))


def show_none(t: Translator, paused: int) -> Screen:
    """Say that no ticket waits for the agent."""
    return Screen(t("support.next.none", paused=paused))


def next_row(t: Translator) -> tuple[Button, ...]:
    """Return the button to the next ticket."""
    return (button(t, "support.next.next", NextButton(NextAction.NEXT), "primary"),)


def _parts(reader: Reader, work: Work) -> Iterator[str]:
    t, case, order = reader.t, work.case, work.case.order
    yield format_status(reader, work.ticket)
    if order is not None and order.has_money_at_risk:
        yield t("support.next.money")
    yield "\n".join((format_facts(reader, case), *_read_lines(reader, work)))
    yield format_anomalies(t, case)
    yield format_draft(reader, case.draft) if case.draft is not None else ""
    yield _last_words(reader, work)
    if work.undecided:
        yield t.plural("support.staff.closing_unsent", work.undecided)
    if work.name:
        said = t(
            "support.saved_reply.preview",
            ticket=work.ticket.reference,
            name=work.name,
            language=t.language(work.locale),
        )
        yield with_quote(said, work.filled)
    else:
        yield t("support.next.no_reply", language=t.language(work.locale))


def _read_lines(reader: Reader, work: Work) -> Iterator[str]:
    """Yield when the order was read, and what the service says of one that has ended for us."""
    t, order, report = reader.t, work.case.order, work.report
    if order is None or not order.service_id:
        return
    key = "support.next.read" if report is not None else "support.next.not_read"
    yield t(key, at=reader.format_time(reader.now, round_up=False))
    if report is not None:
        yield from format_differences(t, order, order, report)


def _last_words(reader: Reader, work: Work) -> Html:
    t, last = reader.t, work.last
    if last is None:
        return t("support.next.nothing_said")
    media = "" if last.media is None else t(f"support.staff_ticket.{last.media}")
    heading = t("support.next.last", at=reader.format_time(last.edited_at or last.at, round_up=False))
    return with_quote(
        " ".join(filter(None, (heading, media))),
        as_html(clip(unescape(TAG.sub("", last.masked_text or "")), LAST_CHARACTERS)),
    )


def _rows(t: Translator, work: Work) -> Keyboard:
    reference, seen = work.ticket.reference, work.hash(with_reply=True)
    choices = tuple(
        Button(
            f"{CHOSEN if each.name == work.name else ''}{each.name}",
            data=NextButton(NextAction.SHOW, reference, each.name).pack(),
        )
        for each in work.replies
    )
    close = NextButton(NextAction.SEND_AND_CLOSE, reference, work.name, seen)
    send = NextButton(NextAction.SEND, reference, work.name, seen)
    is_last = work.name in LAST_WORDS
    sending = (
        button(t, "support.next.close", close, "primary" if is_last else None),
        button(t, "support.next.send", send, None if is_last else "primary"),
    )
    others = button(t, "support.saved_reply.others", ReplyChoiceButton(reference, ReplyChoiceAction.LIST))
    there = (Button(t.plain("support.waiting.open"), url=work.link),) if work.link else ()
    return rows(choices, sending if work.name else (), _wait_row(t, work), (others, *there))


def _wait_row(t: Translator, work: Work) -> tuple[Button, ...]:
    reference, seen = work.ticket.reference, work.hash(with_reply=False)
    order = NextButton(NextAction.WAIT_FOR_ORDER, reference, "", seen)
    when = button(t, "support.next.when", NextButton(NextAction.ASK_UNTIL_WHEN, reference))
    return (*((button(t, "support.next.order", order),) if work.status else ()), when)


def _time_rows(reader: Reader, work: Work) -> Keyboard:
    t, reference, seen = reader.t, work.ticket.reference, work.hash(with_reply=False)
    found = [
        Button(
            reader.format_time(each),
            data=NextButton(NextAction.WAIT_UNTIL, reference, str(int(each.timestamp())), seen).pack(),
        )
        for each in list_times(reader)
    ]
    back = button(t, "support.saved_reply.back", NextButton(NextAction.SHOW, reference, work.name))
    return (*in_rows(found), (back,))


def list_times(reader: Reader) -> tuple[datetime, ...]:
    """Return the times until which a ticket can be set aside: in one and four hours, and the next two mornings."""
    now = reader.now.replace(second=0, microsecond=0)
    morning = next_at(MORNING, reader.zone, now)
    after = next_at(MORNING, reader.zone, morning + timedelta(hours=1))
    return tuple(sorted({now + timedelta(hours=1), now + timedelta(hours=4), morning, after}))
