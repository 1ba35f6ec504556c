"""Handle users' buttons of tickets, their messages to support, and the ways to a ticket from an order or a message.

A button works only for the ticket's own user. A reply to a ticket's message always belongs to the ticket, also during a
conversation about an order. Other messages belong to a ticket only as answers to our question. The other parts of an
album go to the ticket of its first part.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Message, Update

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.routes import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import REFERENCE_ALPHABET, Order
from bot.staff.staff_chat import SupportContacts
from bot.support.buttons import (
    HelpPage,
    LeaveTicketQuestionButton,
    NewTicketButton,
    UserTicketAction,
    UserTicketButton,
)
from bot.support.cases import order_of
from bot.support.entries import read_message
from bot.support.help import HelpPages
from bot.support.model import PREFIX, REFERENCE_LENGTH, BotMessage, BotMessageRole, IncomingMessage, Rating, Ticket
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository
from bot.support.screens import user as user_screens
from bot.support.service import MAX_WAITING, SavedMessage, UserTicketService
from bot.support.user_messages import ReplyTime
from bot.users import questions
from bot.users.model import User, UserEvent
from bot.users.questions import OpenQuestion, mark_answered
from bot.users.session import Session

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

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handlers of typed answers, by question."""
        return {NEW: self.new_typed, MORE: self.more_typed}

    async def ask(self, session: Session, order: Order | None, ticket: Ticket | None) -> None:
        """Ask what is wrong, or for more about it, in a new message. The pressed message stays as it is."""
        session.message_id = None
        shown = user_screens.ask(session.t, order, ticket, self._contacts.contact)
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

    async def take_reply(self, session: Session, _: Update) -> bool:
        """Save a reply to a ticket's message, or the rest of an album. Return False for any other update."""
        message = session.typed
        if message is None:
            return False
        ticket = _ticket_of_album(session, message) or await self._ticket_replied_to(session, message)
        if ticket is None:
            return await self._confirm_if_saved(session, message)
        await self._reply(session, message, ticket)
        return True

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
            await session.show(user_screens.explain_unreadable(session.t))
            return
        user = mark_answered(session)
        try:
            saved = await save(user, incoming)
        except Rejection as rejection:
            await session.save_user(user)
            await _show(session, user_screens.explain_refusal(session.t, session.format_rejection(rejection)))
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
            await _show(session, user_screens.explain_refusal(session.t, session.format_rejection(rejection)))
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
            order = await order_of(tx, ticket)
        match saved.event:
            case UserEvent.OPENED_TICKET:
                shown = user_screens.confirm_opened(session.t, ticket, order, await self._reply_time.get())
            case UserEvent.REOPENED:
                # We measure only first replies, so we don't know the reply time of a reopened ticket.
                shown = user_screens.confirm_opened(session.t, ticket, order)
            case _:
                shown = user_screens.confirm_added(session.t, ticket)
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
    await session.remove_question()
    sent = await session.send_message(session.with_resume(screen))
    return sent.message_id if isinstance(sent, Delivered) else None


MAX_OFFERED = 3

_Action = Callable[[Session, Ticket, str], Awaitable[None]]


class UserTicketHandlers:
    """Let users ask support, and show them their tickets."""

    def __init__(
        self,
        infra: Infra,
        *,
        tickets: UserTicketService,
        messages: UserMessageHandlers,
        help_pages: HelpPages,
        contacts: SupportContacts,
    ) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._contacts = contacts
        self._tickets = tickets
        self._messages = messages
        self._help_pages = help_pages
        self._actions: Mapping[UserTicketAction, _Action] = {
            UserTicketAction.SHOW: self._show,
            UserTicketAction.WRITE: self._write,
            UserTicketAction.REOPEN: self._reopen,
            UserTicketAction.RATE: self._rate,
            UserTicketAction.FORWARD: self._forward,
        }

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(NewTicketButton, self.new_button)
        routes.add_button(LeaveTicketQuestionButton, self.leave_button)
        routes.add_button(UserTicketButton, self.ticket_button, belongs_to="ticket")
        return routes

    async def ask_about(self, session: Session, order: Order) -> None:
        """Ask what is wrong with an order. If there is no support agent, show the contact."""
        await session.acknowledge()
        if not self._contacts.has_staff:
            await session.send_message(user_screens.show_contact(session.t, order, self._contacts.contact))
            return
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).open_of(session.user.id, order.reference)
        await self._messages.ask(session, order, ticket)

    async def offer_to_forward(self, session: Session, message: Message) -> bool:
        """Offer to add a message to one of the user's open tickets. Return False if they have none."""
        if not self._contacts.has_staff or read_message(message) is None:
            return False
        async with self._database.reading() as tx:
            known = await TicketRepository(tx).of_user(session.user.id, limit=MAX_OFFERED)
        tickets = [ticket for ticket in known if ticket.is_open]
        if tickets:
            shown = user_screens.offer_to_forward(session.t, tickets)
            await self._messenger.send_text(
                session.chat_id, shown.text, shown.keyboard, priority="talk", reply_to=message.message_id
            )
        return bool(tickets)

    async def new_button(self, session: Session, _: NewTicketButton) -> None:
        """Ask what is wrong. If there is no support agent, show `/help`."""
        await session.acknowledge()
        if self._contacts.has_staff:
            async with self._database.reading() as tx:
                ticket = await TicketRepository(tx).open_of(session.user.id)
            await self._messages.ask(session, None, ticket)
        else:
            await session.show_below(session.with_resume(await self._help_pages.make(session, HelpPage.FIRST)))

    async def leave_button(self, session: Session, _: LeaveTicketQuestionButton) -> None:
        """Confirm that the question is cancelled. The press itself has ended it (`users/questions.py`)."""
        await session.acknowledge()
        await session.show(session.with_resume(user_screens.confirm_cancelled(session.t)))

    async def ticket_button(self, session: Session, button: UserTicketButton) -> None:
        """Handle a button of the user's own ticket."""
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(button.ticket)
        if ticket is None or ticket.user_id != session.user.id:
            await session.acknowledge(session.t.plain("support.ticket.gone"), alert=True)
        else:
            try:
                await self._actions[button.action](session, ticket, button.argument)
            except Rejection as rejection:
                await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)

    async def _show(self, session: Session, ticket: Ticket, _: str = "") -> None:
        """Show the ticket's page. It replaces the list under `/help`, but never a notification."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await session.show(session.with_resume(await self._page(session, ticket)))

    async def _write(self, session: Session, ticket: Ticket, _: str) -> None:
        if not ticket.is_open and not self._may_be_reopened(session, ticket):
            raise Rejection("support.ticket.closed_too_long_ago")
        await session.acknowledge()
        await self._messages.ask(session, await self._order_of(ticket), ticket)

    async def _reopen(self, session: Session, ticket: Ticket, _: str) -> None:
        """Reopen the ticket at once, and then ask what is still wrong."""
        ticket = await self._tickets.reopen(ticket)
        await session.acknowledge(session.t.plain("support.ticket.reopened"))
        await session.edit_message(await self._page(session, ticket))
        await self._messages.ask(session, await self._order_of(ticket), ticket)

    async def _rate(self, session: Session, ticket: Ticket, argument: str) -> None:
        if argument not in set(Rating):
            raise Rejection("users.stale.button")
        ticket = await self._tickets.rate(ticket, Rating(argument))
        await session.acknowledge(session.t.plain("support.ticket.thanks"))
        await session.edit_message(await self._page(session, ticket))

    async def _forward(self, session: Session, ticket: Ticket, _: str) -> None:
        """Add the message that the offer replies to, if the user wrote it."""
        theirs = session.pressed.reply_to_message if session.pressed is not None else None
        is_own = theirs is not None and theirs.from_user is not None and theirs.from_user.id == session.user.id
        incoming = read_message(theirs) if theirs is not None and is_own else None
        if incoming is None:
            raise Rejection("support.ticket.nothing_to_pass_on")
        saved = await self._tickets.write(session.user, incoming, ticket.reference)
        await session.acknowledge()
        await session.edit_message(session.with_resume(user_screens.confirm_added(session.t, saved.ticket)))
        if session.message_id is not None:
            await self._messages.save_bot_message(session, saved.ticket, session.message_id)

    async def _page(self, session: Session, ticket: Ticket) -> Screen:
        order = await self._order_of(ticket)
        can_reopen = self._may_be_reopened(session, ticket)
        return user_screens.show_ticket(session.reader, ticket, order, can_reopen=can_reopen)

    def _may_be_reopened(self, session: Session, ticket: Ticket) -> bool:
        return ticket.can_be_reopened(session.now, self._tickets.reopen_within)

    async def _order_of(self, ticket: Ticket) -> Order | None:
        async with self._database.reading() as tx:
            return await order_of(tx, ticket)
