"""Handle users' messages to support: answers to our question, and replies to messages of their ticket.

A reply to a ticket's message always belongs to the ticket, also during a conversation about an order. Other messages
belong to a ticket only as answers to our question. The other parts of an album go to the ticket of its first part.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.questions import OpenQuestion
from bot.infra.telegram.ui.router import Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import REFERENCE_ALPHABET, Order
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import SupportContacts
from bot.support.incoming_messages import read_message
from bot.support.model import BotMessage, BotMessageRole, IncomingMessage
from bot.support.reply_time import ReplyTime
from bot.support.ticket import PREFIX, REFERENCE_LENGTH, Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.user_service import MAX_WAITING, SavedMessage, UserTicketService
from bot.support.user_chat.screens import question as screens
from bot.users import questions
from bot.users.model import User, UserEvent
from bot.users.questions import TYPED, mark_answered
from bot.users.session import Session, current_session

NEW: Final = "ticket_new"
MORE: Final = "ticket_more"
ALBUM: Final = "ticket_album"
"""This question awaits no typed answer. It remembers the ticket of an album's other parts."""

SAVED_REACTION: Final = "👌"
"""The reaction to further messages of a ticket. The first message gets an answer."""

TICKET_PATTERN: Final = re.compile(rf"{PREFIX}[{REFERENCE_ALPHABET}]{{{REFERENCE_LENGTH}}}\b")
REPLY_ROLES: Final = frozenset({BotMessageRole.ENTRY, BotMessageRole.REMARK})
_Save = Callable[[User, IncomingMessage], Awaitable[SavedMessage]]


class UserMessageHandlers:
    """Ask users what is wrong, and save what they write."""

    def __init__(
        self, infra: Infra, *, tickets: UserTicketService, reply_time: ReplyTime, contacts: SupportContacts
    ) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._tickets = tickets
        self._reply_time = reply_time
        self._contacts = contacts

    def handler(self) -> Handler:
        """Return the handler of replies. It comes before open questions, because a reply belongs to its message."""
        return MessageHandler(TYPED, self._typed)

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handlers of typed answers, by question."""
        return {NEW: self.new_typed, MORE: self.more_typed}

    async def ask(self, session: Session, order: Order | None, ticket: Ticket | None) -> None:
        """Ask what is wrong, or for more about it, in a new message. The pressed message stays as it is."""
        session.message_id = None
        shown = screens.ask(session.t, order, ticket, self._contacts.contact)
        if ticket is not None:
            await questions.ask(session, MORE, shown, ticket.reference)
        else:
            await questions.ask(session, NEW, shown, order.reference if order else "")

    async def new_typed(self, session: Session, argument: str, message: Message) -> None:
        """Save the answer to what is wrong. `argument` is the order's reference, or empty."""
        await self._answer(session, message, lambda user, incoming: self._tickets.ask(user, incoming, argument))

    async def more_typed(self, session: Session, argument: str, message: Message) -> None:
        """Save another message of a ticket. `argument` is the ticket's reference."""
        await self._answer(session, message, lambda user, incoming: self._tickets.write(user, incoming, argument))

    async def save_bot_message(self, session: Session, ticket: Ticket, message_id: int) -> None:
        """Save that our message belongs to a ticket, so that a reply to it belongs to the ticket."""
        bot_message = BotMessage(
            chat_id=session.chat_id,
            message_id=message_id,
            ticket=ticket.reference,
            role=BotMessageRole.REMARK,
            at=session.now,
        )
        async with self._database.transaction() as tx:
            await BotMessageRepository(tx).add(bot_message)

    async def _typed(self, update: Update, _: Context) -> None:
        session, message = current_session(), update.effective_message
        if message is None:
            return
        ticket = _ticket_of_album(session, message) or await self._ticket_replied_to(session, message)
        if ticket is not None:
            await self._reply(session, message, ticket)
            raise ApplicationHandlerStop
        if await self._confirm_if_saved(session, message):
            raise ApplicationHandlerStop

    async def _ticket_replied_to(self, session: Session, message: Message) -> str | None:
        """Return the reference of the user's own ticket that this message replies to.

        If the bot was killed before it saved that our message belongs to a ticket, the message still names its ticket.
        """
        replied = message.reply_to_message
        if replied is None:
            return None
        async with self._database.reading() as tx:
            bot_message = await BotMessageRepository(tx).get(session.chat_id, replied.message_id)
            name = (
                bot_message.ticket
                if bot_message is not None and bot_message.role in REPLY_ROLES
                else _ticket_named_in(replied)
            )
            ticket = await TicketRepository(tx).get(name) if name else None
        return name if ticket is not None and ticket.user_id == session.user.id else None

    async def _confirm_if_saved(self, session: Session, message: Message) -> bool:
        """Confirm a message that was saved before a crash. Return False if it wasn't saved."""
        if not session.is_answered:
            return False
        async with self._database.reading() as tx:
            entry = await TicketEntryRepository(tx).of_source(message.chat_id, message.message_id)
            ticket = await TicketRepository(tx).get(entry.ticket) if entry else None
        if ticket is None:
            return False
        await self._confirm(session, SavedMessage(ticket, None))
        return True

    async def _answer(self, session: Session, message: Message, save: _Save) -> None:
        """Save the answer to a question, and confirm it."""
        incoming = read_message(message)
        if incoming is None:
            await session.show(screens.explain_unreadable(session.t))
            return
        user = mark_answered(session)
        try:
            saved = await save(user, incoming)
        except Rejection as rejection:
            await session.save_user(user)
            await _show(session, screens.explain_refusal(session.t, session.format_rejection(rejection)))
            return
        await _expect_rest(session, message, saved.ticket)
        await self._confirm(session, saved)
        await self._ask_to_wait(session, saved.ticket)

    async def _reply(self, session: Session, message: Message, ticket: str) -> None:
        """Save a reply. An open question stays open, since the reply doesn't answer it."""
        incoming = read_message(message)
        if incoming is None:
            await session.send_message(Screen(session.t("support.ticket.unreadable")))
            return
        try:
            saved = await self._tickets.write(session.user, incoming, ticket)
        except Rejection as rejection:
            await _show(session, screens.explain_refusal(session.t, session.format_rejection(rejection)))
            return
        if session.user.open_question is None:
            await _expect_rest(session, message, saved.ticket)
        is_plain = saved.event in {UserEvent.ADDED_MESSAGE, None} and saved.ticket.reference == ticket
        if not (is_plain and await self._react(session, message)):
            await self._confirm(session, saved)
        await self._ask_to_wait(session, saved.ticket)

    async def _ask_to_wait(self, session: Session, ticket: Ticket) -> None:
        """Tell the user to wait if many of their messages wait for their way to support. All of them are saved."""
        if await self._tickets.is_crowded(ticket):
            await session.send_message(Screen(session.t("support.ticket.wait", count=MAX_WAITING)))

    async def _react(self, session: Session, message: Message) -> bool:
        outcome = await self._messenger.topics.react(session.chat_id, message.message_id, SAVED_REACTION)
        return isinstance(outcome, Delivered)

    async def _confirm(self, session: Session, saved: SavedMessage) -> None:
        """Confirm that a message was saved, in a message to which the user can reply."""
        ticket = saved.ticket
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
        match saved.event:
            case UserEvent.OPENED_TICKET:
                shown = screens.confirm_opened(session.t, ticket, order, await self._reply_time.get())
            case UserEvent.REOPENED:
                # We measure only first replies, so we don't know the reply time of a reopened ticket.
                shown = screens.confirm_opened(session.t, ticket, order)
            case _:
                shown = screens.confirm_added(session.t, ticket)
        message_id = await _show(session, shown)
        if message_id is not None:
            await self.save_bot_message(session, ticket, message_id)


def _ticket_named_in(ours: Message) -> str | None:
    """Return the reference in the text of a message of the bot."""
    is_ours = ours.from_user is not None and ours.from_user.id == ours.get_bot().id
    match = TICKET_PATTERN.search(ours.text or ours.caption or "") if is_ours else None
    return match[0] if match else None


def _ticket_of_album(session: Session, message: Message) -> str | None:
    question = questions.get_open_question(session)
    if question is None or question.name != ALBUM:
        return None
    ticket, _, album = question.argument.partition(":")
    return ticket if album == message.media_group_id else None


async def _expect_rest(session: Session, message: Message, ticket: Ticket) -> None:
    if message.media_group_id is not None:
        album = OpenQuestion(ALBUM, f"{ticket.reference}:{message.media_group_id}")
        await questions.save_question(session, album)


async def _show(session: Session, screen: Screen) -> int | None:
    """Send a message, and remove the buttons of the question before it."""
    await session.remove_question_buttons()
    sent = await session.send_message(session.with_resume(screen))
    return sent.message_id if isinstance(sent, Delivered) else None
