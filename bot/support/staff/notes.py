"""Words that stay among support (`/note`), and an answer that is taken back (`/unsend`)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape

from telegram import Message

from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.support.lookup.pages import ticket_at
from bot.support.model import TicketEntry, Written
from bot.support.staff.questions import TakeReply, ask
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, replied_to, staff_routes
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.remarks import TO_NOTE
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.messages import written_in

_COMMAND = re.compile(r"^/note(?:@\w+)?(?:\s+|$)", re.IGNORECASE)

routes = staff_routes()


def is_note(message: Message) -> bool:
    """Whether it is meant for support alone: the words under a picture can be a command, too."""
    return _COMMAND.match(message.text or message.caption or "") is not None


def note_in(message: Message) -> Written | None:
    """What is to be kept of it; None where nothing is left without the command."""
    written = written_in(message)
    if written is None:
        return None
    words, plain = _COMMAND.sub("", written.text or ""), _COMMAND.sub("", message.text or message.caption or "")
    if words == written.text:  # the formatting begins at the command
        words = escape(plain)
    note = replace(written, text=words.strip() or None)
    return note if note.text or note.media else None


async def keep_note(staff: StaffSession, ticket: Ticket, message: Message) -> None:
    """Keep it, and say that it went nowhere else."""
    note = note_in(message)
    if note is None:
        await ask(staff, ticket, TO_NOTE, staff_talk.how_to_note(staff.t))
        return
    await staff.desk.ticket_answers.add_note(ticket.reference, staff.person.id, note)
    await ask(staff, ticket, TO_NOTE, staff_talk.noted(staff.t, ticket))


async def _note_in_reply(staff: StaffSession, ticket: Ticket, _: str, message: Message) -> None:
    """To a note, or to what is said of one: whatever it is, it isn't meant for the person."""
    await keep_note(staff, ticket, message)


QUESTIONS: Mapping[str, TakeReply] = {TO_NOTE: _note_in_reply}
"""What takes the reply to which question."""


@routes.command("note")
async def note(staff: StaffSession, _: str) -> None:
    """Keep what the message says among support, in the ticket that it belongs to."""
    message = staff.message
    ticket = await _ticket_here(staff, message) if message else None
    if message is None or ticket is None:
        await staff.say(staff_talk.how_to_note(staff.t))
        return
    await keep_note(staff, ticket, message)


@routes.command("unsend")
async def unsend(staff: StaffSession, _: str) -> None:
    """Take back the reply that the message answers. What became of it is told when it is known."""
    message = staff.message
    entry = await _entry_meant(staff, message) if message else None
    if entry is None:
        await staff.say(Screen(staff.t("ticket.no_answer")))
        return
    try:
        has_changed = await staff.desk.ticket_corrections.withdraw(entry, staff.person.id)
    except Rejection as why:
        await staff.say(Screen(staff.t.tell(why)))
    else:
        if not has_changed:
            await staff.say(Screen(staff.t("ticket.taken_back_already")))


async def _ticket_here(staff: StaffSession, message: Message) -> Ticket | None:
    """The one that the message answers, be that a colleague's words, else the one whose topic this is."""
    answered = replied_to(message)
    async with staff.desk.store.reading() as tx:
        entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered) if answered else None
        if entry is not None:
            return await TicketRepository(tx).get(entry.ticket)
    return await ticket_at(staff, message)


async def _entry_meant(staff: StaffSession, message: Message) -> TicketEntry | None:
    """What was made of the message that this one answers, or what the bot's message there is about."""
    answered = replied_to(message)
    if answered is None:
        return None
    async with staff.desk.store.reading() as tx:
        entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered)
        post = await TicketPostRepository(tx).get(message.chat_id, answered) if entry is None else None
        return await TicketEntryRepository(tx).get(post.ticket, post.entry) if post else entry
