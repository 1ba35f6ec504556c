"""Questions to support about a ticket: the answer is a reply to the question, so that any chat of theirs will do."""

from collections.abc import Awaitable, Callable

from telegram import Message

from bot.infra.telegram.ui.screen import Screen
from bot.support.model import PostRole, TicketPost
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket
from bot.support.tickets.post_repository import TicketPostRepository

TakeReply = Callable[[StaffSession, Ticket, str, Message], Awaitable[None]]
"""Takes the session, the ticket, the question's argument, and the reply."""


async def ask(staff: StaffSession, ticket: Ticket, question: str, screen: Screen, argument: str = "") -> None:
    """Show `screen`; a reply to it goes to what the entrance names for `question`."""
    await say_of(staff, ticket, screen, PostRole.QUESTION, f"{question}:{argument}")


async def say_of(
    staff: StaffSession, ticket: Ticket, screen: Screen, role: PostRole = PostRole.REMARK, argument: str = ""
) -> None:
    """Show something that belongs to a ticket: a reply to it does, too."""
    message_id = await staff.say(screen)
    if message_id is None:
        return
    async with staff.desk.store.transaction() as tx:
        await TicketPostRepository(tx).add(
            TicketPost(
                chat_id=staff.chat_id,
                message_id=message_id,
                ticket=ticket.reference,
                role=role,
                topic_id=staff.topic_id,
                argument=argument,
                at=staff.desk.clock.now(),
            )
        )
