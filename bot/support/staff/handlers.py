"""Handle support agents' buttons of tickets, the new id of the staff's group, and presses without a route."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from telegram import Chat, Message, Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler, MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.log_context import bind_fields
from bot.infra.telegram.outbound.sender import Gone, Invalid
from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.router import Context, Handler, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.buttons import StaffTicketAction, StaffTicketButton
from bot.support.model import NOTE
from bot.support.notifications.topics import TicketTopics
from bot.support.staff.messages import TakeReply, TicketMessages, TicketReply, ask_agent
from bot.support.staff.refresh import OrderRefresh
from bot.support.staff.replies import read_reply
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, StaffSessions, alert_on_rejection
from bot.support.staff.ticket_pages import TicketPages
from bot.support.ticket import CloseReason, Ticket, TicketClosed
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.staff_service import StaffTicketService
from bot.users.session import Session, as_handler, current_session

TAKE_OVER: Final = "take_over"
CLOSE: Final = "close"
REASONS: Final = {str(reason): reason for reason in CloseReason}

_Action = Callable[[StaffSession, Ticket, str], Awaitable[None]]


class StaffTicketHandlers:
    """Handle support agents' buttons of tickets."""

    def __init__(
        self,
        *,
        sessions: StaffSessions,
        database: Database,
        messages: TicketMessages,
        tickets: StaffTicketService,
        ticket_pages: TicketPages,
        order_refresh: OrderRefresh,
    ) -> None:
        self._sessions = sessions
        self._database = database
        self._messages = messages
        self._tickets = tickets
        self._ticket_pages = ticket_pages
        self._order_refresh = order_refresh

    def routes(self) -> Routes[StaffSession]:
        """Return the buttons."""
        routes = self._sessions.routes()
        actions: Mapping[StaffTicketAction, _Action] = {
            StaffTicketAction.SHOW: self._show,
            StaffTicketAction.CLAIM: self._claim,
            StaffTicketAction.TAKE_OVER: self._take_over,
            StaffTicketAction.CLOSE: self._close,
            StaffTicketAction.CLOSE_AS: self._close_as,
            StaffTicketAction.REOPEN: self._reopen,
            StaffTicketAction.SEND_AGAIN: self._send_again,
            StaffTicketAction.REFRESH: self._refresh,
            StaffTicketAction.SEND_UNDECIDED: self._send_undecided,
            StaffTicketAction.KEEP_UNDECIDED: self._keep_undecided,
        }
        routes.add_actions(StaffTicketButton, self.ticket_button, actions)
        return routes

    def questions(self) -> Mapping[str, TakeReply]:
        """Return the handlers of replies, by question."""
        return {TAKE_OVER: self._take_over_with_note, CLOSE: self._ask_reason_again}

    async def ticket_button(self, staff: StaffSession, button: StaffTicketButton, act: _Action) -> None:
        """Handle a button. A `Rejection` is shown to the agent who pressed.

        Each action answers the press once. It gets the ticket as it was just read, and saves over that version.
        """
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(button.ticket)
        if ticket is None:
            await staff.toast("support.staff.gone", alert=True)
            return
        with bind_fields(**ticket.log_fields):
            async with alert_on_rejection(staff):
                await act(staff, ticket, button.argument)

    async def _show(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        await self._ticket_pages.show(staff, ticket, argument)

    async def _refresh(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._order_refresh.refresh(staff, ticket)

    async def _claim(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._tickets.claim(ticket.reference, staff.user.id)
        await staff.toast("support.staff.claimed")

    async def _take_over(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Claim an unclaimed ticket at once. To take over a colleague's, ask for a note to them."""
        if ticket.claimed_by in {None, staff.user.id} or not ticket.is_open:
            await self._claim(staff, ticket, argument)
            return
        await staff.session.acknowledge()
        reader = await staff.reader_who_knows(ticket.claimed_by)
        screen = staff_talk.ask_for_note(reader, ticket, ticket.claimed_by or 0)
        await ask_agent(self._messages, staff, ticket, TAKE_OVER, screen)

    async def _take_over_with_note(self, reply: TicketReply, _: str, message: Message) -> None:
        """Take over the ticket with a note. A notification reports it to all agents, so there is no answer."""
        staff, ticket = reply.staff, reply.ticket
        try:
            await self._tickets.take_over(ticket.reference, staff.user.id, read_reply(message))
        except Rejection as why:
            await self._messages.say(staff, ticket, staff_talk.explain_not_passed_on(staff.t, ticket, why))

    async def _close(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        """Ask for the reason to close the ticket."""
        if not ticket.is_open:
            raise TicketClosed
        await staff.session.acknowledge()
        undecided = await self._tickets.count_undecided(ticket.reference)
        await ask_agent(self._messages, staff, ticket, CLOSE, staff_talk.ask_close_reason(staff.t, ticket, undecided))

    async def _ask_reason_again(self, reply: TicketReply, _: str, __: Message) -> None:
        """Ask for the reason again. It has to be tapped, and a typed answer isn't sent to the user."""
        staff, ticket = reply.staff, reply.ticket
        if ticket.is_open:
            await ask_agent(self._messages, staff, ticket, CLOSE, staff_talk.ask_close_reason(staff.t, ticket))
        else:
            screen = staff_talk.explain_not_passed_on(staff.t, ticket, TicketClosed())
            await self._messages.say(staff, ticket, screen)

    async def _close_as(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        reason = REASONS.get(argument)
        if reason is None:
            raise Rejection("support.staff.gone")
        closed = await self._tickets.close(ticket.reference, staff.user.id, reason)
        await staff.session.acknowledge()
        await staff.edit_message(staff_talk.confirm_closed(staff.t, closed, reason))

    async def _reopen(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._tickets.reopen(ticket.reference, staff.user.id)
        await staff.toast("support.staff.reopened")

    async def _send_again(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        if not await self._tickets.retry_reply(ticket.reference, staff.user.id, _read_number(argument)):
            raise Rejection("support.staff.gone")
        await staff.toast("support.staff.tried_again")

    async def _send_undecided(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Send what the agent wrote. The question is removed, since a reaction to each message reports its delivery."""
        sent = await self._tickets.send_undecided(ticket.reference, staff.user.id, _read_number(argument))
        await staff.toast("support.staff.sending" if sent else "support.staff.decided_already")
        if staff.message_id is not None:
            deleted = await staff.messenger.delete(staff.chat_id, staff.message_id, priority="talk")
            if isinstance(deleted, Gone | Invalid):
                await staff.edit_message(Screen(staff.t("support.staff.sending")))
            await self._messages.forget(staff)

    async def _keep_undecided(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Keep what the agent wrote as a note. The question becomes its confirmation, and a reply to that is a note."""
        kept = await self._tickets.keep_undecided(ticket.reference, staff.user.id, _read_number(argument))
        if not kept:
            await staff.toast("support.staff.decided_already")
            return
        await staff.session.acknowledge()
        await self._messages.replace_question(staff, ticket, NOTE)
        await staff.edit_message(staff_talk.confirm_note(staff.t, ticket))


def _read_number(argument: str) -> int:
    return int(argument) if argument.isascii() and argument.isdecimal() else 0


class StaffChatHandlers:
    """Handle the new id of the staff's group, and presses without a route."""

    def __init__(self, *, sessions: StaffSessions, topics: TicketTopics) -> None:
        self._sessions = sessions
        self._topics = topics

    def moved_handler(self) -> Handler:
        """Return the handler of Telegram's report that a group has a new id."""
        return MessageHandler(filters.StatusUpdate.MIGRATE & filters.UpdateType.MESSAGE, as_handler(self._move))

    def last_handlers(self, kinds: Iterable[type[Callback]]) -> list[Handler]:
        """Return the handlers of presses without a route. `kinds` are the buttons of support's routes.

        A press in a group is refused, because users' buttons work only in private chats.
        """
        prefixes = sorted({kind.prefix.partition(":")[0] for kind in kinds})
        return [
            CallbackQueryHandler(
                as_handler(self._explain_unreadable), pattern=re.compile(f"^(?:{'|'.join(prefixes)}):")
            ),
            CallbackQueryHandler(self._refuse_in_a_group),
        ]

    async def _move(self, _: Session, update: Update) -> None:
        """Save the new id of the staff's group. Ignore other groups."""
        message = update.effective_message
        if message is None or message.migrate_to_chat_id is None:
            return
        if await self._sessions.is_group(message.chat_id):
            await self._topics.move_group(message.chat_id, message.migrate_to_chat_id)

    async def _explain_unreadable(self, _: Session, update: Update) -> None:
        """Answer a press on a support button whose data can't be read."""
        staff = await self._sessions.open(update)
        if staff is None:
            await self._sessions.refuse(update)
        else:
            await staff.toast("support.staff.gone", alert=True)

    async def _refuse_in_a_group(self, update: Update, _: Context) -> None:
        """Refuse a press in a group. None of our messages there has such a button."""
        chat = update.effective_chat
        if chat is not None and chat.type != Chat.PRIVATE:
            session = current_session()
            await session.acknowledge(session.t.plain("orders.stale.not_yours"), alert=True)
            raise ApplicationHandlerStop
