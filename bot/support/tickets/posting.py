"""What news of tickets leave behind when they were told: a message that belongs to the ticket, as replies to it do."""

from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, Sent, Undeliverable
from bot.support.model import PostRole, TicketEntry, TicketPost
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ticket_in
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository


async def keep_post(
    tx: Transaction,
    news: Notification,
    how: Sent | Undeliverable,
    now: datetime,
    role: PostRole,
    *,
    ticket: str = "",
    topic_id: int | None = None,
    argument: str = "",
) -> None:
    """Remember the message that told `news`, if there is one and the ticket still is.

    The ticket is the one that the news are filed under, the topic the one they were told in, unless said otherwise.
    """
    reference = ticket or ticket_in(news.subject)
    if not isinstance(how, Sent) or how.message_id is None or await TicketRepository(tx).get(reference) is None:
        return
    await TicketPostRepository(tx).add(
        TicketPost(
            chat_id=news.chat_id,
            message_id=how.message_id,
            ticket=reference,
            role=role,
            topic_id=how.topic_id if topic_id is None else topic_id,
            entry=entry_number(news),
            argument=argument,
            at=now,
        )
    )


async def entry_of(tx: Transaction, news: Notification) -> TicketEntry | None:
    """The entry that a piece of news is about; None where it is there no more."""
    number = entry_number(news)
    return await TicketEntryRepository(tx).get(ticket_in(news.subject), number) if number else None


def entry_number(news: Notification) -> int:
    """The number of that entry; 0 where they are about none."""
    number = news.payload.get("entry")
    return number if isinstance(number, int) else 0
