"""Support's buttons that change who holds a ticket, and whether it is open."""

from collections.abc import Mapping
from typing import Final

from telegram import Message

from bot.core.errors import Rejection
from bot.support.staff.buttons import StaffTicketAction
from bot.support.staff.questions import TakeReply, ask, say_of
from bot.support.staff.replies import passable
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, TicketAct
from bot.support.ticket import CloseReason, Ticket

TAKING_OVER: Final = "take_over"
CLOSING: Final = "close"
REASONS: Final = {str(reason): reason for reason in CloseReason}


async def _claim(staff: StaffSession, ticket: Ticket, _: str) -> None:
    await staff.desk.ticket_answers.claim(ticket.reference, staff.person.id)
    await staff.toast("staff.claimed")


async def _take_over(staff: StaffSession, ticket: Ticket, argument: str) -> None:
    """From nobody at once; from somebody with a word to them."""
    if ticket.claimed_by in {None, staff.person.id} or not ticket.is_open:
        await _claim(staff, ticket, argument)
        return
    await staff.session.acknowledge()
    await ask(staff, ticket, TAKING_OVER, staff_talk.take_over(staff.t, ticket, ticket.claimed_by or 0))


async def _taken_over(staff: StaffSession, ticket: Ticket, _: str, message: Message) -> None:
    """The word is here. What has changed is told to all, so nothing more is said of it."""
    try:
        await staff.desk.ticket_answers.take_over(ticket.reference, staff.person.id, passable(message))
    except Rejection as why:
        await say_of(staff, ticket, staff_talk.not_passed_on(staff.t, ticket, why))


async def _close(staff: StaffSession, ticket: Ticket, _: str) -> None:
    """Ask why."""
    if not ticket.is_open:
        raise Rejection("ticket.closed")
    await staff.session.acknowledge()
    await ask(staff, ticket, CLOSING, staff_talk.closing(staff.t, ticket))


async def _reason_typed(staff: StaffSession, ticket: Ticket, _: str, __: Message) -> None:
    """A reason is tapped; what is typed instead is no answer to the person, and is asked for again."""
    if ticket.is_open:
        await ask(staff, ticket, CLOSING, staff_talk.closing(staff.t, ticket))
    else:
        await say_of(staff, ticket, staff_talk.not_passed_on(staff.t, ticket, Rejection("ticket.closed")))


async def _close_as(staff: StaffSession, ticket: Ticket, argument: str) -> None:
    reason = REASONS.get(argument)
    if reason is None:
        raise Rejection("staff.gone")
    closed = await staff.desk.ticket_answers.close(ticket.reference, staff.person.id, reason)
    await staff.session.acknowledge()
    await staff.update(staff_talk.closed(staff.t, closed, reason))


async def _reopen(staff: StaffSession, ticket: Ticket, _: str) -> None:
    await staff.desk.ticket_answers.reopen(ticket.reference, staff.person.id)
    await staff.toast("staff.reopened")


async def _answer_again(staff: StaffSession, ticket: Ticket, argument: str) -> None:
    number = int(argument) if argument.isascii() and argument.isdecimal() else 0
    if not await staff.desk.ticket_answers.retry_reply(ticket.reference, staff.person.id, number):
        raise Rejection("staff.gone")
    await staff.toast("staff.tried_again")


ACTIONS: Mapping[StaffTicketAction, TicketAct] = {
    StaffTicketAction.CLAIM: _claim,
    StaffTicketAction.TAKE_OVER: _take_over,
    StaffTicketAction.CLOSE: _close,
    StaffTicketAction.CLOSE_AS: _close_as,
    StaffTicketAction.REOPEN: _reopen,
    StaffTicketAction.SEND_AGAIN: _answer_again,
}
"""What a button does."""

QUESTIONS: Mapping[str, TakeReply] = {TAKING_OVER: _taken_over, CLOSING: _reason_typed}
"""What takes the reply to which question."""
