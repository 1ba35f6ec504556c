"""What a person writes to support, and that it was taken in: asked for, or in answer to any message of their ticket.

A reply to a ticket's message belongs to the ticket at any point of any conversation; what is typed otherwise does so
only as the answer to the question what is wrong. The further parts of an album follow its first.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler

from bot.core.errors import Rejection
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.questions import TYPED, answered
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.orders.order import REFERENCE_ALPHABET, Order
from bot.orders.repository import OrderRepository
from bot.support.model import PostRole, TicketPost, Written
from bot.support.ticket import PREFIX, REFERENCE_LENGTH, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.opening import Taken
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.messages import written_in
from bot.support.user_chat.screens import question as screens
from bot.users.activity import UserEvent
from bot.users.model import Person
from bot.users.repository import UserRepository

NEW: Final = "ticket_new"
MORE: Final = "ticket_more"
ALBUM: Final = "ticket_album"
"""Awaits nothing that is typed: it remembers which ticket the other parts of an album belong to."""

TAKEN: Final = "👌"
"""Under further words that were taken in; the first ones are answered by a message."""

TICKET_NAMED: Final = re.compile(rf"{PREFIX}[{REFERENCE_ALPHABET}]{{{REFERENCE_LENGTH}}}\b")
OURS: Final = frozenset({PostRole.ENTRY, PostRole.REMARK})
Keep = Callable[[Person, Written], Awaitable[Taken]]


async def ask(session: Session, order: Order | None, ticket: Ticket | None) -> None:
    """Ask what is wrong, or for more of it, in a new message: what was pressed stays as it is."""
    session.message_id = None
    shown = screens.screen(session.t, order, ticket, session.desk.help.contact)
    if ticket is not None:
        await questions.ask(session, MORE, shown, ticket.reference)
    else:
        await questions.ask(session, NEW, shown, order.reference if order else "")


def handler() -> Handler:
    """To stand before what takes the answers to questions: a reply is meant for what it answers."""
    return MessageHandler(TYPED, _written)


async def first_words(session: Session, argument: str, message: Message) -> None:
    """The answer to what is wrong."""
    opening = session.desk.ticket_opening
    await _answer(session, message, lambda person, written: opening.ask(person, written, argument))


async def more_words(session: Session, argument: str, message: Message) -> None:
    """The answer to what is to be added to a ticket."""
    opening = session.desk.ticket_opening
    await _answer(session, message, lambda person, written: opening.say(person, written, argument))


WHOLE_MESSAGES: Final[dict[str, questions.WholeAnswer]] = {NEW: first_words, MORE: more_words}


async def _written(update: Update, _: Context) -> None:
    session, message = SESSION.get(), update.effective_message
    if message is None:
        return
    ticket = _part_of_album(session, message) or await _answered_ticket(session, message)
    if ticket is not None:
        await _reply(session, message, ticket)
        raise ApplicationHandlerStop
    if await _is_known(session, message):
        raise ApplicationHandlerStop


async def _answered_ticket(session: Session, message: Message) -> str | None:
    """The ticket that this is a reply to, if it is this person's.

    A message of ours that a kill has kept from being remembered still names its ticket.
    """
    replied = message.reply_to_message
    if replied is None:
        return None
    async with session.desk.store.reading() as tx:
        post = await TicketPostRepository(tx).get(session.chat_id, replied.message_id)
        name = post.ticket if post is not None and post.role in OURS else _named(replied)
        ticket = await TicketRepository(tx).get(name) if name else None
    return name if ticket is not None and ticket.person_id == session.person.id else None


def _named(ours: Message) -> str | None:
    """The ticket that a message of the bot's own bears the name of."""
    is_ours = ours.from_user is not None and ours.from_user.id == ours.get_bot().id
    match = TICKET_NAMED.search(ours.text or ours.caption or "") if is_ours else None
    return match[0] if match else None


def _part_of_album(session: Session, message: Message) -> str | None:
    question, _, argument = (session.person.awaits or "").partition(":")
    ticket, _, album = argument.partition(":")
    return ticket if question == ALBUM and album == message.media_group_id else None


async def _is_known(session: Session, message: Message) -> bool:
    """Whether a crash has only kept its sender from reading that it was taken in: then they read it now."""
    if not session.is_answered:
        return False
    async with session.desk.store.reading() as tx:
        entry = await TicketEntryRepository(tx).of_source(message.chat_id, message.message_id)
        ticket = await TicketRepository(tx).get(entry.ticket) if entry else None
    if ticket is None:
        return False
    await _show_taken(session, Taken(ticket, None))
    return True


async def _answer(session: Session, message: Message, keep: Keep) -> None:
    """Keep the words that a question has asked for, and say so."""
    written = written_in(message)
    if written is None:
        await session.show(screens.unreadable(session.t))
        return
    person = answered(session)
    try:
        taken = await keep(person, written)
    except Rejection as rejection:
        async with session.desk.store.transaction() as tx:
            await UserRepository(tx).save(person)
        await _show(session, screens.refused(session.t, session.reason(rejection)))
        return
    await _expect_rest(session, message, taken.ticket)
    await _show_taken(session, taken)


async def _reply(session: Session, message: Message, ticket: str) -> None:
    """Keep the words of a reply. A question that is open stays so: it wasn't answered."""
    written = written_in(message)
    if written is None:
        await session.post(Screen(session.t("ticket.unreadable")))
        return
    try:
        taken = await session.desk.ticket_opening.say(session.person, written, ticket)
    except Rejection as rejection:
        await _show(session, screens.refused(session.t, session.reason(rejection)))
        return
    if session.person.awaits is None:
        await _expect_rest(session, message, taken.ticket)
    is_plain = taken.what in {UserEvent.SAID, None} and taken.ticket.reference == ticket
    if not (is_plain and await _reacted(session, message)):
        await _show_taken(session, taken)


async def _reacted(session: Session, message: Message) -> bool:
    return isinstance(await session.desk.messenger.rooms.react(session.chat_id, message.message_id, TAKEN), Delivered)


async def _expect_rest(session: Session, message: Message, ticket: Ticket) -> None:
    if message.media_group_id is not None:
        session.person = replace(session.person, awaits=f"{ALBUM}:{ticket.reference}:{message.media_group_id}")
        async with session.desk.store.transaction() as tx:
            await UserRepository(tx).save(session.person)


async def _show_taken(session: Session, taken: Taken) -> None:
    """Say it in a message that can itself be replied to."""
    ticket = taken.ticket
    async with session.desk.store.reading() as tx:
        order = await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
    match taken.what:
        case UserEvent.ASKED:
            shown = screens.opened(session.t, ticket, order, await session.desk.reply_time.get())
        case UserEvent.REOPENED:
            # Only first replies are measured, which says nothing about a ticket that goes on.
            shown = screens.opened(session.t, ticket, order)
        case _:
            shown = screens.added(session.t, ticket)
    message_id = await _show(session, shown)
    if message_id is not None:
        await keep_post(session, ticket, message_id)


async def _show(session: Session, screen: Screen) -> int | None:
    """A message whose buttons stay; those of the question before it go."""
    await session.leave_question()
    return await session.post(session.with_resume(screen))


async def keep_post(session: Session, ticket: Ticket, message_id: int) -> None:
    """Remember that a message of ours belongs to a ticket: a reply to it does, too."""
    now = session.desk.clock.now()
    post = TicketPost(
        chat_id=session.chat_id, message_id=message_id, ticket=ticket.reference, role=PostRole.REMARK, at=now
    )
    async with session.desk.store.transaction() as tx:
        await TicketPostRepository(tx).add(post)
