"""Handle saved replies: change their list (`/replies`), and send one in a ticket."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Message

from bot.core import templates
from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.feature import Infra
from bot.infra.i18n import LOCALES, Translator, translator_for
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen, count_visible_units
from bot.orders.order import Order
from bot.support.buttons import (
    ReplyChoiceAction,
    ReplyChoiceButton,
    SavedReplyAction,
    SavedReplyButton,
    WriteSavedReplyButton,
)
from bot.support.cases import order_of
from bot.support.entries import count_excess_units
from bot.support.model import IncomingMessage, SavedReply, Ticket, TicketClosed, TicketHeldByAnother
from bot.support.repository import TicketRepository
from bot.support.saved_replies import MAX_UNITS, SavedReplyService, needs_order, read_name, read_text
from bot.support.screens import saved_replies as screens
from bot.support.session import StaffSession, StaffSessions, TicketMessages, alert_on_rejection
from bot.support.staff_service import StaffTicketService
from bot.users import questions
from bot.users.repository import UserRepository
from bot.users.session import Session

NAME: Final = "sa_name"
TEXT: Final = "sa_text"

_Action = Callable[[StaffSession, str], Awaitable[None]]
_Choose = Callable[[StaffSession, ReplyChoiceButton], Awaitable[None]]


class SavedReplyHandlers:
    """Let agents read and change the saved replies."""

    def __init__(self, infra: Infra, *, sessions: StaffSessions, saved_replies: SavedReplyService) -> None:
        self._sessions = sessions
        self._messenger = infra.messenger
        self._saved_replies = saved_replies
        self._default_locale = infra.default_locale

    def routes(self) -> Routes[StaffSession]:
        """Return the command and the buttons."""
        routes = self._sessions.routes()
        routes.add_command("replies", self.list_saved_replies, menu={Menu.SUPPORT: 50})
        actions: Mapping[SavedReplyAction, _Action] = {
            SavedReplyAction.LIST: self._list,
            SavedReplyAction.SHOW: self._show,
            SavedReplyAction.ADD: self._add,
            SavedReplyAction.ASK_TO_DELETE: self._ask_to_delete,
            SavedReplyAction.DELETE: self._delete,
        }
        routes.add_actions(SavedReplyButton, self.saved_reply_button, actions)
        routes.add_button(WriteSavedReplyButton, self.write_button)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handlers of typed answers, by question."""
        return {NAME: questions.accept_text(self.name_typed), TEXT: self.text_sent}

    async def list_saved_replies(self, staff: StaffSession, _: str) -> None:
        """List the saved replies. In a group, list only their names."""
        saved = await self._saved_replies.all()
        if staff.is_private:
            await staff.say(screens.list_replies(staff.t, saved))
        else:
            await staff.say(screens.list_names(staff.t, saved, self._messenger.username))

    async def saved_reply_button(self, staff: StaffSession, button: SavedReplyButton, act: _Action) -> None:
        """Handle a button of the list. It works only in the private chat."""
        async with alert_on_rejection(staff):
            _check_private(staff)
            await act(staff, button.name)

    async def write_button(self, staff: StaffSession, button: WriteSavedReplyButton) -> None:
        """Ask for the text of a saved reply in one language. It works only in the private chat."""
        async with alert_on_rejection(staff):
            _check_private(staff)
            await self._check_known(button.name)
            await staff.session.acknowledge()
            await self._ask_text(staff.session, button.name, button.locale)

    async def name_typed(self, session: Session, _: str, typed: str) -> None:
        """Take the name of a new saved reply, and ask for its first text."""
        if not await self._is_agent(session):
            return
        try:
            name = read_name(typed)
            await self._saved_replies.check_can_add(name)
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.show(screens.ask_name(session.t))
            return
        await self._ask_next_text(session, name, self._default_locale)

    async def text_sent(self, session: Session, argument: str, message: Message) -> None:
        """Save a text in one language. If the other language has none yet, ask for it."""
        if not await self._is_agent(session):
            return
        name, _separator, locale = argument.partition(":")
        try:
            template = read_text(_formatted_text(message))
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.show(screens.ask_text(session.t, name, locale))
            return
        saved = await self._saved_replies.write(name, locale, template, questions.mark_answered(session))
        missing = [each for each in LOCALES if each not in saved.texts]
        if missing:
            await self._ask_next_text(session, name, missing[0])
        else:
            await session.show(screens.show_reply(session.t, saved))

    async def _list(self, staff: StaffSession, _: str = "") -> None:
        await staff.session.acknowledge()
        await staff.edit_message(screens.list_replies(staff.t, await self._saved_replies.all()))

    async def _show(self, staff: StaffSession, name: str) -> None:
        saved = await self._saved_replies.get(name)
        if saved is None:
            await self._list(staff)
            return
        await staff.session.acknowledge()
        await staff.edit_message(screens.show_reply(staff.t, saved))

    async def _add(self, staff: StaffSession, _: str) -> None:
        await staff.session.acknowledge()
        await questions.ask(staff.session, NAME, screens.ask_name(staff.t))

    async def _ask_to_delete(self, staff: StaffSession, name: str) -> None:
        await self._check_known(name)
        await staff.session.acknowledge()
        await staff.edit_message(screens.ask_to_delete(staff.t, name))

    async def _delete(self, staff: StaffSession, name: str) -> None:
        if not await self._saved_replies.delete(name, staff.user.id):
            raise Rejection("support.staff.gone")
        await self._list(staff)

    async def _check_known(self, name: str) -> None:
        if await self._saved_replies.get(name) is None:
            raise Rejection("support.staff.gone")

    async def _ask_next_text(self, session: Session, name: str, locale: str) -> None:
        # Mark the message as answered first. Otherwise, after a crash, it would also answer the next question.
        questions.mark_answered(session)
        await self._ask_text(session, name, locale)

    async def _ask_text(self, session: Session, name: str, locale: str) -> None:
        await questions.ask(session, TEXT, screens.ask_text(session.t, name, locale), f"{name}:{locale}")

    async def _is_agent(self, session: Session) -> bool:
        """Return whether the user is an agent. If not, end the question and show the welcome."""
        if self._sessions.is_agent(session.user.id):
            return True
        await session.save_user(questions.mark_answered(session))
        await session.show_start()
        return False


class SendSavedReplyHandlers:
    """Send a saved reply in a ticket: an agent chooses it, sees a preview, and sends it.

    The preview's message is the source of the reply. So a second tap doesn't send it again, not even after a crash.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        sessions: StaffSessions,
        messages: TicketMessages,
        saved_replies: SavedReplyService,
        tickets: StaffTicketService,
    ) -> None:
        self._sessions = sessions
        self._database = infra.database
        self._messenger = infra.messenger
        self._messages = messages
        self._saved_replies = saved_replies
        self._tickets = tickets
        self._translations = infra.translations

    def routes(self) -> Routes[StaffSession]:
        """Return the buttons."""
        routes = self._sessions.routes()
        actions: Mapping[ReplyChoiceAction, _Choose] = {
            ReplyChoiceAction.LIST: self._list,
            ReplyChoiceAction.LIST_AGAIN: self._list_again,
            ReplyChoiceAction.PREVIEW: self._show_preview,
            ReplyChoiceAction.SEND: self._send,
        }
        routes.add_actions(ReplyChoiceButton, self.choice_button, actions)
        return routes

    async def choice_button(self, staff: StaffSession, button: ReplyChoiceButton, act: _Choose) -> None:
        """Handle a button. A `Rejection` is shown to the agent who pressed."""
        async with alert_on_rejection(staff):
            await act(staff, button)

    async def _list(self, staff: StaffSession, button: ReplyChoiceButton) -> None:
        """Ask which saved reply to send, or preview the named one, in a new message that belongs to the ticket."""
        if button.name:
            ticket, _, shown = await self._preview(staff, button.name, button.ticket)
            await staff.session.acknowledge()
        else:
            ticket, shown = await self._ask_which(staff, button)
        await self._messages.say(staff, ticket, shown)

    async def _list_again(self, staff: StaffSession, button: ReplyChoiceButton) -> None:
        _, question = await self._ask_which(staff, button)
        await staff.edit_message(question)

    async def _ask_which(self, staff: StaffSession, button: ReplyChoiceButton) -> tuple[Ticket, Screen]:
        ticket, _, t = await self._case(staff, button.ticket)
        await staff.session.acknowledge()
        return ticket, screens.ask_which(staff.t, ticket, await self._saved_replies.all(), t.locale)

    async def _show_preview(self, staff: StaffSession, button: ReplyChoiceButton) -> None:
        """Preview a saved reply as the ticket's user would read it."""
        _, _, preview = await self._preview(staff, button.name, button.ticket)
        await staff.session.acknowledge()
        await staff.edit_message(preview)

    async def _send(self, staff: StaffSession, button: ReplyChoiceButton) -> None:
        """Send the previewed text. If it or the order's state has changed since, show a new preview instead."""
        ticket, filled, preview = await self._preview(staff, button.name, button.ticket)
        if preview.keyboard[0][0].data != button.pack():
            await staff.toast("support.saved_reply.changed", alert=True)
            await staff.edit_message(preview)
            return
        if staff.message_id is None:
            raise Rejection("support.staff.gone")
        incoming = IncomingMessage(chat_id=staff.chat_id, message_id=staff.message_id, text=filled)
        if await self._tickets.reply(ticket.reference, staff.user.id, incoming) is None:
            await staff.toast("support.saved_reply.sent_already", alert=True)
            await self._messenger.edit_keyboard(staff.chat_id, staff.message_id, (), priority="talk")
            return
        await staff.session.acknowledge()
        reader = await staff.reader_who_knows(staff.user.id)
        await staff.edit_message(screens.show_queued(reader, ticket, button.name, filled, staff.user.id))

    async def _preview(self, staff: StaffSession, name: str, reference: str) -> tuple[Ticket, str, Screen]:
        """Return the ticket, what its user would read, and the preview of that. Raise as `_case` and `_fill` do."""
        ticket, order, t = await self._case(staff, reference)
        filled = fill(await self._saved_replies.get(name), ticket, order, t)
        return ticket, filled, screens.show_preview(staff.reader, ticket, name, filled, t.locale, order=order)

    async def _case(self, staff: StaffSession, reference: str) -> tuple[Ticket, Order | None, Translator]:
        """Return the ticket, its order, and the translator of its user's language.

        Raises:
            Rejection: there is no such ticket, it is closed, or another agent holds it.
        """
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(reference)
            order = await order_of(tx, ticket)
            user = await UserRepository(tx).get(ticket.user_id) if ticket else None
        if ticket is None:
            raise Rejection("support.staff.gone")
        if not ticket.is_open:
            raise TicketClosed
        if ticket.claimed_by not in {None, staff.user.id}:
            raise TicketHeldByAnother
        return ticket, order, translator_for(self._translations, user)


def _check_private(staff: StaffSession) -> None:
    if not staff.is_private:
        raise Rejection("support.staff.gone")


def _formatted_text(message: Message) -> str:
    """Return the text with its formatting.

    Raises:
        Rejection: the message isn't a text, or it is too long.
    """
    if not plain(message.text or ""):
        raise Rejection("support.saved_reply.only_text")
    over = count_visible_units(message.text_html) - MAX_UNITS
    if over > 0:
        raise Rejection("support.saved_reply.too_long", over=over)
    return message.text_html


def fill(saved: SavedReply | None, ticket: Ticket, order: Order | None, t: Translator) -> str:
    """Return the text with the values of its variables.

    Raises:
        Rejection: the saved reply doesn't exist, has no text in the user's language, needs an order, or is too long.
    """
    if saved is None:
        raise Rejection("support.staff.gone")
    template = saved.texts.get(t.locale)
    if template is None:
        raise Rejection("support.saved_reply.not_in_their_language")
    if order is None and needs_order(template):
        raise Rejection("support.saved_reply.needs_order")
    filled = templates.fill(template, screens.variable_values(t, ticket, order))
    over = count_excess_units(IncomingMessage(chat_id=0, message_id=0, text=filled))
    if over:
        raise Rejection("support.saved_reply.too_long", over=over)
    return filled
