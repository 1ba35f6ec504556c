"""Support answers: a reply to one of the bot's messages of a ticket goes to its person, and nothing else does.

What staff write beside that is talk among themselves: not passed on, not kept.
"""

from collections.abc import Mapping
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import SESSION, Session
from bot.support.model import PostRole, TicketPost, Written
from bot.support.staff.entries import too_long_by
from bot.support.staff.notes import is_note, keep_note
from bot.support.staff.questions import TakeReply, say_of
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.screens import ticket as staff_ticket
from bot.support.staff.session import NEW_MESSAGES, StaffSession, open_staff_session, replied_to, topic_of
from bot.support.ticket import Ticket
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.messages import written_in

SLASH: Final = "/"
OURS: Final = frozenset({PostRole.HEAD, PostRole.ENTRY, PostRole.REMARK})
"""What an answer may answer."""


def handlers(questions: Mapping[str, TakeReply]) -> list[Handler]:
    """Replies; `questions` names what takes the one to a question."""

    async def replied(update: Update, _: Context) -> None:
        message, session = update.effective_message, SESSION.get()
        post, ticket = await _answered(session, message) if message else (None, None)
        if message is None or post is None or ticket is None or message.chat_id == ticket.person_id:
            if message is not None and post is None:
                await _unknown(update, session, message)
            return
        staff = await open_staff_session(update)
        if staff is None:
            await _send_away(session, message, ticket)
        elif post.role is PostRole.QUESTION:
            question, _separator, argument = post.argument.partition(":")
            if question in questions:
                await questions[question](staff, ticket, argument, message)
        elif post.role in OURS:
            await _answer(staff, ticket, message)
        raise ApplicationHandlerStop

    return [MessageHandler(NEW_MESSAGES & filters.REPLY & ~filters.COMMAND, replied)]


def passable(message: Message) -> Written:
    """What a message says, if that can be passed on as it is.

    Raises:
        Rejection: it is of another kind, too long, or looks like a command.
    """
    written = written_in(message)
    if written is None:
        raise Rejection(staff_talk.KIND)
    if (message.text or message.caption or "").startswith(SLASH):
        raise Rejection(staff_talk.COMMAND)
    over = too_long_by(written)
    if over:
        raise Rejection(staff_talk.TOO_LONG, over=over)
    return written


async def _answer(staff: StaffSession, ticket: Ticket, message: Message) -> None:
    """Nothing is said of success: what became of it is told when it is known."""
    if is_note(message):
        await keep_note(staff, ticket, message)
        return
    try:
        await staff.desk.ticket_answers.reply(ticket.reference, staff.person.id, passable(message))
    except Rejection as why:
        await say_of(staff, ticket, staff_talk.not_passed_on(staff.t, ticket, why))


async def _answered(session: Session, message: Message) -> tuple[TicketPost | None, Ticket | None]:
    message_id = replied_to(message)
    if message_id is None:
        return None, None
    async with session.desk.store.reading() as tx:
        post = await TicketPostRepository(tx).get(message.chat_id, message_id)
        return post, await TicketRepository(tx).get(post.ticket) if post else None


async def _unknown(update: Update, session: Session, message: Message) -> None:
    """A card, or words of a person's, that the bot was killed before it could remember, or that a group left behind.

    Nobody knows for sure what it is, so nothing is passed on, and whoever believes that it was learns that.
    """
    answered = message.reply_to_message
    author = answered.from_user if answered is not None else None
    if answered is None or author is None or author.username != session.desk.messenger.username:
        return
    reference = staff_ticket.named_in(answered.text or answered.caption or "")
    staff = await open_staff_session(update) if reference else None
    async with session.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).get(reference)
    if staff is not None and ticket is not None:
        await say_of(staff, ticket, staff_talk.not_passed_on(staff.t, ticket, Rejection(staff_talk.UNKNOWN)))
        raise ApplicationHandlerStop


async def _send_away(session: Session, message: Message, ticket: Ticket) -> None:
    """Whoever believes that they have answered learns that they haven't."""
    screen = staff_talk.not_passed_on(session.t, ticket, Rejection(staff_talk.STRANGER))
    await session.desk.messenger.send_text(
        message.chat_id, screen.text, lane="talk", reply_to=message.message_id, topic_id=topic_of(message)
    )
