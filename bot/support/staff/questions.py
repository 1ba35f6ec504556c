"""Questions to support about a ticket: the answer is a reply to the question, so that any chat of theirs will do."""

from collections.abc import Awaitable, Callable

from telegram import Message

from bot.infra.telegram.ui.screen import Screen
from bot.support.model import PostRole
from bot.support.staff.messages import TicketMessages
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket

TakeReply = Callable[[StaffSession, Ticket, str, Message], Awaitable[None]]
"""Takes the session, the ticket, the question's argument, and the reply."""


async def ask(messages: TicketMessages, staff: StaffSession, ticket: Ticket, question: str, screen: Screen) -> None:
    """Show `screen`; a reply to it goes to what is registered for `question`."""
    await messages.say(staff, ticket, screen, PostRole.QUESTION, f"{question}:")
