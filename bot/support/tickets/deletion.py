"""When somebody is forgotten, what support's chats show of their tickets goes as well, as far as Telegram allows."""

from collections import defaultdict
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.support.model import TicketPost
from bot.support.tickets.notifications import ToStaffChat, subject_of_ticket
from bot.support.tickets.post_repository import TicketPostRepository
from bot.users.deletion import UserDataRepository


async def forget(tx: Transaction, person_id: int, now: datetime) -> None:
    """Forget all of a person in the database, and queue the removal of what support's chats show of their tickets."""
    posts = await TicketPostRepository(tx).in_rooms(person_id)
    await UserDataRepository(tx).person(person_id)
    of_chat: dict[tuple[int, str], list[TicketPost]] = defaultdict(list)
    for post in posts:
        of_chat[post.chat_id, post.ticket].append(post)
    await OutboxRepository(tx).add(
        [_removal(chat_id, ticket, found, now) for (chat_id, ticket), found in of_chat.items()]
    )


def _removal(chat_id: int, ticket: str, posts: list[TicketPost], now: datetime) -> Notification:
    """Bears all that is needed: the ticket and its posts are gone when it is told."""
    topics = sorted({post.topic_id for post in posts if post.topic_id is not None})
    return Notification(
        chat_id=chat_id,
        subject=subject_of_ticket(ticket),
        kind=ToStaffChat.FORGOTTEN,
        payload={"chat": chat_id, "topics": topics, "messages": [post.message_id for post in posts]},
        due_at=now,
        created_at=now,
    )
