"""A ticket in the staff's chats: its card, the headings of messages, its topic's name, and changes of its order."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order, Phase
from bot.recipients.formatting import format_method
from bot.settlement.model import OrderReport
from bot.support.buttons import SavedRepliesForTicketButton, StaffTicketAction, StaffTicketButton
from bot.support.cases.reader import Case
from bot.support.cases.screens import case as case_screens
from bot.support.cases.screens.case import evidence_button, reveal_button
from bot.support.model import TicketEntry
from bot.support.ticket import Rating, Ticket

THUMBS = {Rating.GOOD: "👍", Rating.BAD: "👎"}
CLOSED = "✅ "
NO_STATE = "-"
"""Shown for an order without a state."""

_NAMED = re.compile(r"^(?:(?:🎫|✅) |👤[^\n]{0,120}\()(T-[0-9A-Z]{5})\b", re.MULTILINE)


def show_card(reader: Reader, ticket: Ticket, case: Case, *, notice: str = "", has_topic: bool = False) -> Screen:
    """Return the card of a ticket: its status, the whole case, and the buttons.

    `has_topic` says whether the ticket has a topic, in which agents can write without replying.
    """
    hint = _hint(reader.t, ticket, has_topic=has_topic)
    before = "\n\n".join(part for part in (notice, format_status(reader, ticket), hint) if part)
    others = replace(case, tickets=tuple(other for other in case.tickets if other.reference != ticket.reference))
    text = case_screens.format_case(reader, others, before=before)
    return Screen(text, keyboard(reader.t, ticket, case.order))


def format_status(reader: Reader, ticket: Ticket) -> str:
    """Return the lines of the ticket's status."""
    return "\n".join(_status_lines(reader, ticket))


def keyboard(t: Translator, ticket: Ticket, order: Order | None) -> Keyboard:
    """Return the buttons of the card. Each press is checked again."""

    def button(label: str, action: StaffTicketAction) -> Button:
        return Button(t.plain(label), data=StaffTicketButton(ticket.reference, action).pack())

    refresh = (
        (button("support.staff_ticket.fresh", StaffTicketAction.REFRESH),)
        if order is not None and order.service_id
        else ()
    )
    reveal = (reveal_button(t, order.reference),) if order is not None and order.has_recipient else ()
    if not ticket.is_open:
        return tuple(
            row
            for row in (
                (button("support.staff_ticket.reopen", StaffTicketAction.REOPEN),),
                (*refresh, *reveal),
                evidence_button(t, order),
            )
            if row
        )
    is_free = ticket.claimed_by is None
    claim = (
        button("support.staff_ticket.claim", StaffTicketAction.CLAIM)
        if is_free
        else button("support.staff_ticket.take", StaffTicketAction.TAKE_OVER)
    )
    saved = Button(t.plain("support.staff_ticket.answers"), data=SavedRepliesForTicketButton(ticket.reference).pack())
    rows = (
        (claim, button("support.staff_ticket.close", StaffTicketAction.CLOSE)),
        (*refresh, *reveal),
        (saved, *evidence_button(t, order)),
    )
    return tuple(row for row in rows if row)


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


def format_step(reader: Reader, ticket: Ticket, what: str, *, ping: int) -> Html:
    """Return what the user or the order changed in the ticket, with a mention of the agent `ping`."""
    user = reader.format_user(ticket.user_id)
    return _with_ping(
        reader, reader.t(f"support.staff_ticket.step_{what}", user=user, reference=ticket.reference), ping
    )


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
    if ticket.reopen_count:
        yield t("support.staff_ticket.reopened", count=ticket.reopen_count)
    if ticket.first_reply_at is not None:
        yield t("support.staff_ticket.answered", duration=t.duration(ticket.first_reply_at - ticket.created_at))
    if ticket.waiting_since is not None:
        yield t("support.staff_ticket.waits", at=when(ticket.waiting_since))
    if ticket.closed_at is not None and ticket.close_reason is not None:
        reason, by = t(f"support.staff_ticket.reason.{ticket.end}"), reader.format_staff(ticket.closed_by or 0)
        key = "support.lookup.closed" if ticket.closed_by is None else "support.staff_ticket.ended"
        yield t(key, at=when(ticket.closed_at), by=by, reason=reason)
    if ticket.rating is not None:
        yield t("support.staff_ticket.rated", thumb=THUMBS[ticket.rating])


def _hint(t: Translator, ticket: Ticket, *, has_topic: bool) -> str:
    if not ticket.is_open:
        return ""
    return t("support.staff_ticket.hint_topic" if has_topic else "support.staff_ticket.hint")
