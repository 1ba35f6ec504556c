"""What notifications about tickets leave behind: a message that belongs to the ticket, as replies to it do."""

from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, Sent, Undeliverable
from bot.support.model import PostRole, TicketEntry, TicketPost
from bot.support.notifications.kinds import AboutEntry, AboutTicket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository


async def keep_post(
    tx: Transaction,
    notification: Notification[object],
    how: Sent | Undeliverable,
    now: datetime,
    role: PostRole,
    *,
    ticket: str = "",
    topic_id: int | None = None,
    argument: str = "",
) -> None:
    """Save the message that a notification was sent as, if there is one and the ticket still exists.

    The ticket is the one that the notification is about, the topic the one it was sent to, unless said otherwise.
    """
    about = notification.payload
    reference = ticket or (about.ticket if isinstance(about, AboutTicket) else "")
    if not isinstance(how, Sent) or how.message_id is None or await TicketRepository(tx).get(reference) is None:
        return
    await TicketPostRepository(tx).add(
        TicketPost(
            chat_id=notification.chat_id,
            message_id=how.message_id,
            ticket=reference,
            role=role,
            topic_id=how.topic_id if topic_id is None else topic_id,
            entry=about.entry if isinstance(about, AboutEntry) else 0,
            argument=argument,
            at=now,
        )
    )


async def entry_of(tx: Transaction, notification: Notification[AboutEntry]) -> TicketEntry | None:
    """Return the entry that a notification is about; None where it no longer exists."""
    return await TicketEntryRepository(tx).get(notification.payload.ticket, notification.payload.entry)
