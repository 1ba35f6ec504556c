"""What looking up shares: where a page is shown, and which ticket is meant where none is named."""

from telegram import Message

from bot.infra.telegram.ui.screen import Screen
from bot.support.staff.session import StaffSession, replied_to
from bot.support.ticket import Ticket
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository


async def show(staff: StaffSession, screen: Screen) -> None:
    """In the pressed message's place; as a new one after a command, and where a ticket's own message was pressed."""
    query_was_pressed = staff.session.message_id is not None
    await staff.session.acknowledge()
    if query_was_pressed and not await _is_tickets_own(staff):
        await staff.update(screen)
    else:
        await staff.say(screen)


async def ticket_at(staff: StaffSession, message: Message | None) -> Ticket | None:
    """The ticket whose message this one answers, or in whose topic it stands."""
    answered = replied_to(message) if message is not None else None
    async with staff.desk.store.reading() as tx:
        post = await TicketPostRepository(tx).get(staff.chat_id, answered) if answered else None
        reference = post.ticket if post else None
        if reference is None and staff.topic_id is not None:
            reference = await TicketPostRepository(tx).of_topic(staff.chat_id, staff.topic_id)
        return await TicketRepository(tx).get(reference) if reference else None


async def _is_tickets_own(staff: StaffSession) -> bool:
    """Whether the message belongs to a ticket, where replies to it are taken in: it stays as it is."""
    async with staff.desk.store.reading() as tx:
        return (
            staff.message_id is not None
            and await TicketPostRepository(tx).get(staff.chat_id, staff.message_id) is not None
        )
