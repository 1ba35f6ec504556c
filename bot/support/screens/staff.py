"""A ticket in the staff's chats: its card and the lines under it. Also what agents see first, and answers to them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES, Html, Translator, as_html
from bot.infra.telegram.ui.reader import Reader, clip, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Failure, Order, Phase
from bot.recipients.formatting import format_method
from bot.settlement.model import OrderReport
from bot.staff.buttons import LookupButton, LookupPage
from bot.staff.model import UNDONE
from bot.staff.outcomes import Outcome
from bot.support.buttons import (
    GroupLanguageButton,
    NextAction,
    NextButton,
    ReplyChoiceAction,
    ReplyChoiceButton,
    StaffTicketAction,
    StaffTicketButton,
    button,
    rows,
)
from bot.support.cases import Case
from bot.support.entries import with_quote
from bot.support.model import CloseReason, Rating, Ticket, TicketClosed, TicketEntry, TicketFilter, TicketHeldByAnother
from bot.support.notifications import AboutTicket, Remark
from bot.support.saved_replies import ENDS
from bot.support.screens import case as case_screens
from bot.support.screens.case import evidence_button, reveal_button

THUMBS = {Rating.GOOD: "👍", Rating.BAD: "👎"}
CLOSED = "✅ "
NO_STATE = "-"
"""Shown for an order without a state."""

_NAMED = re.compile(r"^(?:(?:🎫|✅) |👤[^\n]{0,120}\()(T-[0-9A-Z]{5})\b", re.MULTILINE)


def show_card(
    reader: Reader, ticket: Ticket, case: Case, *, notice: str = "", has_topic: bool = False, can_reply: bool = True
) -> Screen:
    """Return the card of a ticket: its status, the whole case, and the buttons.

    `has_topic` says whether the ticket has a topic, in which agents can write without replying.
    """
    hint = _hint(reader.t, ticket, has_topic=has_topic) if can_reply else ""
    before = "\n\n".join(part for part in (notice, format_status(reader, ticket), hint) if part)
    others = replace(case, tickets=tuple(other for other in case.tickets if other.reference != ticket.reference))
    text = case_screens.format_case(reader, others, before=before)
    return Screen(text, keyboard(reader.t, ticket, case.order))


def format_status(reader: Reader, ticket: Ticket) -> str:
    """Return the lines of the ticket's status."""
    return "\n".join(_status_lines(reader, ticket))


def keyboard(t: Translator, ticket: Ticket, order: Order | None) -> Keyboard:
    """Return the buttons of the card. Each press is checked again."""

    def press(label: str, action: StaffTicketAction) -> Button:
        return button(t, label, StaffTicketButton(ticket.reference, action))

    can_refresh = order is not None and order.service_id
    refresh = (press("support.staff_ticket.fresh", StaffTicketAction.REFRESH),) if can_refresh else ()
    reveal = (reveal_button(t, order.reference),) if order is not None and order.has_recipient else ()
    if not ticket.is_open:
        return rows(reopen_row(t, ticket), (*refresh, *reveal), evidence_button(t, order))
    is_free = ticket.claimed_by is None
    ends = _outcome_row(t, ticket, order) if order is not None else ()
    claim = press("support.staff_ticket.claim", StaffTicketAction.CLAIM)
    take_over = press("support.staff_ticket.take", StaffTicketAction.TAKE_OVER)
    close = press("support.staff_ticket.close", StaffTicketAction.CLOSE)
    saved = button(t, "support.staff_ticket.saved_replies", ReplyChoiceButton(ticket.reference, ReplyChoiceAction.LIST))
    first = (claim if is_free else take_over, close)
    return rows(first, (*refresh, *reveal), ends, (saved, *evidence_button(t, order)))


def _outcome_row(t: Translator, ticket: Ticket, order: Order) -> tuple[Button, ...]:
    """Return the button that asks how a failed order ended, or the one that previews the message about that."""
    if order.outcome is not None:
        return (_ready_button(t, ticket, order.outcome),)
    ask = button(
        t, "support.staff_ticket.record_outcome", StaffTicketButton(ticket.reference, StaffTicketAction.ASK_OUTCOME)
    )
    return (ask,) if order.failure in {Failure.PAID, Failure.UNKNOWN} else ()


def format_entry_heading(
    reader: Reader, ticket: Ticket, entry: TicketEntry, at: str, *, ping: int, is_changed: bool
) -> Html:
    """Return the heading of a user's message: the user, the time, and a mention of the agent `ping`."""
    t = reader.t
    key = "support.staff_ticket.changed" if is_changed else "support.staff_ticket.wrote"
    text = t(key, user=reader.format_user(ticket.user_id), reference=ticket.reference, at=at)
    if entry.media is not None:
        text = Html(f"{text}\n{t(f'support.staff_ticket.{entry.media}')}")
    return _with_ping(reader, text, ping)


def format_differences(t: Translator, before: Order, after: Order, report: OrderReport) -> list[Html]:
    """Return a line for each difference, also if the order has ended for us but not for the service."""
    lines = []
    if report.state != before.state:
        key = "support.staff_ticket.state" if after.state == report.state else "support.staff_ticket.state_not_taken"
        lines.append(t(key, before=quote_input(before.state or NO_STATE), after=quote_input(report.state)))
    if after.is_paid and not before.is_paid:
        lines.append(t("support.staff_ticket.now_paid"))
    if lines and before.phase not in {Phase.OPEN, Phase.DONE}:
        lines.append(t("support.staff_ticket.not_followed"))
    return lines


def topic_name(t: Translator, ticket: Ticket, order: Order | None) -> str:
    """Return the name of the ticket's topic, without the user's name or an account number."""
    about = "" if order is None else f" · {format_method(order.method)} {t.rupiah(order.idr or order.expected_idr)}"
    return f"{'' if ticket.is_open else CLOSED}{ticket.reference}{about}"


def find_reference(text: str) -> str:
    """Return the reference in the text of one of our messages about a ticket; empty for any other text."""
    match = _NAMED.search(text)
    return match[1] if match else ""


def _with_ping(reader: Reader, text: Html, ping: int) -> Html:
    return Html(f"{text}\n{reader.t('support.staff_ticket.ping', who=reader.mention(ping))}") if ping else text


def _status_lines(reader: Reader, ticket: Ticket) -> Iterator[str]:
    t = reader.t

    def when(moment: datetime) -> str:
        return reader.format_time(moment, round_up=False)

    status = "closed" if not ticket.is_open else "unclaimed" if ticket.claimed_by is None else "claimed"
    yield t(
        f"support.staff_ticket.{status}", reference=ticket.reference, by=reader.format_staff(ticket.claimed_by or 0)
    )
    yield t(f"support.staff_ticket.cause.{ticket.cause}", at=when(ticket.created_at))
    if ticket.has_payee:
        yield t("support.staff_ticket.has_payee")
    if ticket.reopen_count:
        yield t("support.staff_ticket.reopened", count=ticket.reopen_count)
    if ticket.first_reply_at is not None:
        yield t("support.staff_ticket.answered", duration=t.duration(ticket.first_reply_at - ticket.created_at))
    if ticket.paused_until is not None:
        yield t("support.staff_ticket.paused", at=reader.format_time(ticket.paused_until))
    elif ticket.waiting_since is not None:
        yield t("support.staff_ticket.waits", at=when(ticket.waiting_since))
    if ticket.closed_at is not None and ticket.close_reason is not None:
        reason, by = t(f"support.staff_ticket.reason.{ticket.close_key}"), reader.format_staff(ticket.closed_by or 0)
        key = "support.lookup.closed" if ticket.closed_by is None else "support.staff_ticket.ended"
        yield t(key, at=when(ticket.closed_at), by=by, reason=reason)
    if ticket.rating is not None:
        yield t("support.staff_ticket.rated", thumb=THUMBS[ticket.rating])


def _hint(t: Translator, ticket: Ticket, *, has_topic: bool) -> str:
    if not ticket.is_open:
        return ""
    return t("support.staff_ticket.hint_topic" if has_topic else "support.staff_ticket.hint")


QUOTED: Final = frozenset({Remark.REPLIED, Remark.NOTED, Remark.TAKEN_OVER})
"""Remarks that quote what was written."""

REASONS: Final[Mapping[str, str]] = {
    "blocked": "support.staff.why.blocked",
    "deactivated": "support.staff.why.deactivated",
    "chat not found": "support.staff.why.unknown",
    "user not found": "support.staff.why.unknown",
    "the file can't be taken out": "support.staff.why.file_stays",
}
"""Parts of failures, and the keys of their texts."""


def show_line(reader: Reader, ticket: Ticket, line: AboutTicket, entry: TicketEntry | None) -> Screen:
    """Return what happened to an entry, or without one, what the user or the order changed in the ticket."""
    t, what = reader.t, line.what
    if entry is None:
        user = reader.format_user(ticket.user_id)
        step = t(f"support.staff_ticket.step_{what}", user=user, reference=ticket.reference)
        ended = next((each for each in ENDS if what == f"handled_{each}"), None)
        back = button(t, "support.next.show", NextButton(NextAction.SHOW, ticket.reference), "primary")
        row = (_ready_button(t, ticket, ended),) if ended else (back,) if what in COMES_BACK else ()
        return Screen(_with_ping(reader, step, line.who), rows(row))
    key = "claimed" if what == Remark.TAKEN_OVER and not line.before else what
    why, by, before = format_failure(t, line.why), reader.mention(line.who), reader.mention(line.before)
    said = t(f"support.staff.remark.{key}", why=why, by=by, before=before)
    body = with_quote(
        t("support.staff.remark", ticket=ticket.reference, said=said), entry.text if what in QUOTED else None
    )
    again = StaffTicketButton(entry.ticket, StaffTicketAction.SEND_AGAIN, str(entry.number))
    return Screen(body, ((button(t, "support.staff.button.again", again),),) if what == Remark.FAILED else ())


COMES_BACK: Final = frozenset({"moved", "pause_over"})
"""Why a ticket that was set aside has come back."""


def _ready_button(t: Translator, ticket: Ticket, outcome: Outcome) -> Button:
    """Return the button that previews the message to the user about how the order ended."""
    preview = ReplyChoiceButton(ticket.reference, ReplyChoiceAction.LIST, ENDS[outcome])
    return button(t, "support.staff.button.ready", preview, "primary")


def ask_outcome(t: Translator, ticket: Ticket) -> Screen:
    """Ask how the order of a ticket ended."""
    choices = ((each, StaffTicketButton(ticket.reference, StaffTicketAction.RECORD_OUTCOME, each)) for each in ENDS)
    rows = tuple((button(t, f"staff.alarm.outcome_{each}", press),) for each, press in choices)
    return Screen(t("support.staff.ask_outcome", ticket=ticket.reference), rows)


def show_outcome(reader: Reader, ticket: Ticket, outcome: Outcome | None, by: int) -> Screen:
    """Say how the order ended, as the agent `by` says, with the message to its user. None: they took it back."""
    t, who = reader.t, reader.format_staff(by)
    step = t(f"support.staff_ticket.step_handled_{outcome or UNDONE}", reference=ticket.reference)
    said = Html(f"{step}\n{t('support.staff.outcome_by', by=who)}")
    if outcome is None or outcome not in ENDS:
        return Screen(said)
    undo = StaffTicketButton(ticket.reference, StaffTicketAction.UNDO_OUTCOME)
    return Screen(said, ((_ready_button(t, ticket, outcome),), (button(t, "staff.alarm.undo", undo),)))


def ask_to_send(reader: Reader, ticket: Ticket, newest: TicketEntry, count: int, obstacle: Rejection | None) -> Screen:
    """Ask whether to send the agent's `count` messages, up to the `newest`. `obstacle` says why that can't be yet."""
    t, user = reader.t, reader.names.get(ticket.user_id)
    whom = clip(user) if user else t.plain("support.staff.the_customer")
    key = "support.staff.ask_to_send" if count == 1 else "support.staff.ask_to_send_all"
    text = t(key, user=whom, count=count, ticket=ticket.reference)

    number = str(newest.number)
    send = StaffTicketButton(ticket.reference, StaffTicketAction.SEND_UNDECIDED, number)
    keep = StaffTicketButton(ticket.reference, StaffTicketAction.KEEP_UNDECIDED, number)
    decide = (
        button(t, "support.staff.button.send", send, "primary", user=whom),
        button(t, "support.staff.button.keep", keep),
    )
    if obstacle is None:
        return Screen(text, (decide,))
    return Screen(Html(f"{text}\n{t.translate(obstacle)}"), (*helping_rows(t, ticket, obstacle), decide))


def helping_rows(t: Translator, ticket: Ticket, why: Rejection) -> Keyboard:
    """Return the button that helps an agent who can't reply."""
    if isinstance(why, TicketClosed):
        return (reopen_row(t, ticket),)
    over = StaffTicketButton(ticket.reference, StaffTicketAction.TAKE_OVER)
    return ((button(t, "support.staff_ticket.take", over),),) if isinstance(why, TicketHeldByAnother) else ()


def reopen_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    """Return the button that reopens a ticket."""
    reopen = StaffTicketButton(ticket.reference, StaffTicketAction.REOPEN)
    return (button(t, "support.staff_ticket.reopen", reopen),)


def format_failure(t: Translator, reason: str) -> Html:
    """Return why a reply wasn't delivered."""
    for piece, key in REASONS.items():
        if piece in reason.lower():
            return t(key)
    return t("support.staff.why.refused", reason=as_html(reason))


def remind_staff(reader: Reader, ticket: Ticket) -> Screen:
    """Remind support. The reminder mentions the agent who holds the ticket, so that Telegram notifies them."""
    claim = button(reader.t, "support.waiting.claim", StaffTicketButton(ticket.reference, StaffTicketAction.CLAIM))
    return Screen(_reminder_text(reader, "support.waiting.head", ticket), rows(() if ticket.claimed_by else (claim,)))


def remind_operator(reader: Reader, ticket: Ticket, link: str | None) -> Screen:
    """Remind an operator, with a link to the ticket. There are no buttons, since operators may not be agents."""
    keyboard = ((Button(reader.t.plain("support.waiting.open"), url=link),),) if link else ()
    return Screen(_reminder_text(reader, "support.waiting.long", ticket), keyboard)


def _reminder_text(reader: Reader, key: str, ticket: Ticket) -> Html:
    t = reader.t
    waited = t.duration(reader.now - (ticket.waiting_since or reader.now))
    held = (
        t("support.waiting.unclaimed")
        if ticket.claimed_by is None
        else t("support.waiting.held", by=reader.mention(ticket.claimed_by))
    )
    return Html(f"{t(key, ticket=ticket.reference, waited=waited)}\n{held}")


def explain_not_passed_on(t: Translator, ticket: Ticket, why: Rejection) -> Screen:
    """Explain why the user didn't get the reply, with a button that helps."""
    return Screen(t("support.staff.not_passed_on", why=t.translate(why)), helping_rows(t, ticket, why))


def explain_not_corrected(t: Translator, why: Rejection, *, is_sent: bool = True) -> Screen:
    """Explain why the user still has the reply as it was before the edit, or would get it so."""
    return Screen(t("support.staff.not_corrected" if is_sent else "support.staff.not_edited", why=t.translate(why)))


def ask_for_note(reader: Reader, ticket: Ticket, claimed_by: int) -> Screen:
    """Ask for a note to the agent who holds the ticket."""
    return Screen(reader.t("support.staff.take_over", ticket=ticket.reference, who=reader.mention(claimed_by)))


def ask_close_reason(t: Translator, ticket: Ticket, undecided: int = 0) -> Screen:
    """Ask for the reason to close the ticket. The user will see it. `undecided` messages weren't sent to them."""
    text = t("support.staff.closing", ticket=ticket.reference)
    if undecided:
        text = Html(f"{text}\n\n{t.plural('support.staff.closing_unsent', undecided)}")
    choices = [
        (
            button(
                t,
                f"support.staff.close.{reason}",
                StaffTicketButton(ticket.reference, StaffTicketAction.CLOSE_AS, reason),
            ),
        )
        for reason in CloseReason
    ]
    return Screen(text, tuple(choices))


def confirm_closed(t: Translator, ticket: Ticket, reason: CloseReason) -> Screen:
    """Confirm that the ticket is closed."""
    return Screen(
        t("support.staff.closed", ticket=ticket.reference, reason=t(f"support.staff_ticket.reason.{reason}")),
        (reopen_row(t, ticket),),
    )


def confirm_note(t: Translator, ticket: Ticket) -> Screen:
    """Confirm that a note was saved."""
    return Screen(t("support.staff.noted", ticket=ticket.reference))


def explain_notes(t: Translator) -> Screen:
    """Explain how to write a note."""
    return Screen(t("support.staff.how_to_note"))


def show_start(t: Translator, counts: Mapping[TicketFilter, int], *, has_group: bool) -> Screen:
    """Return an agent's start: how many tickets are open, and where they arrive."""
    text = t(
        "support.agent.start",
        open=counts[TicketFilter.OPEN],
        unclaimed=counts[TicketFilter.UNCLAIMED],
        mine=counts[TicketFilter.MINE],
        where=t("support.agent.in_group" if has_group else "support.agent.in_private"),
    )
    tickets = LookupButton(LookupPage.TICKETS, TicketFilter.OPEN).pack()
    return Screen(text, ((Button(t.plain("support.agent.tickets"), data=tickets),),))


def show_help(t: Translator) -> Screen:
    """Return what an agent can do, with the commands."""
    return Screen(t("support.agent.help"))


def ask_language(t: Translator) -> Screen:
    """Ask for the language of the group. Each language has its own name."""
    buttons = tuple(Button(locale.name, data=GroupLanguageButton(code).pack()) for code, locale in LOCALES.items())
    return Screen(t("support.agent.ask_language"), (buttons,))


def confirm_language(t: Translator) -> Screen:
    """Confirm the language of the group, in that language."""
    return Screen(t("support.agent.language_changed"))


def private_chat_row(t: Translator, username: str) -> Keyboard:
    """Return the button to the private chat."""
    return (
        ((Button(t.plain("support.reveal.open_private"), url=f"https://t.me/{username}?start=staff"),),)
        if username
        else ()
    )
