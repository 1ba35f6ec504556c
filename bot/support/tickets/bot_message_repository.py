"""Read and write which messages of the bot belong to tickets."""

from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select

from bot.infra.db.repository import Repository
from bot.support.model import BotMessage, BotMessageRole
from bot.support.tickets.tables import ticket_posts, tickets


class BotMessageRepository(Repository[BotMessage]):
    """Read and write the bot's messages of tickets."""

    table = ticket_posts

    async def add(self, bot_message: BotMessage) -> None:
        """Insert or replace a message."""
        await self._replace(bot_message)

    async def get(self, chat_id: int, message_id: int) -> BotMessage | None:
        """Return a message, or None if it belongs to no ticket."""
        return await self._find_first(select(ticket_posts).where(_is_message(chat_id, message_id)))

    async def card(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest card of a ticket in a chat."""
        return next((card for card in await self.cards(ticket) if card.chat_id == chat_id), None)

    async def cards(self, ticket: str) -> tuple[BotMessage, ...]:
        """Return the newest card of a ticket in each chat."""
        cards = _of_role(ticket, BotMessageRole.CARD)
        found: dict[int, BotMessage] = {}
        for card in await self._find(cards.order_by(ticket_posts.c.at.desc(), ticket_posts.c.message_id.desc())):
            found.setdefault(card.chat_id, card)
        return tuple(found.values())

    async def of_entry(self, ticket: str, entry: int, chat_id: int) -> BotMessage | None:
        """Return the newest message that shows an entry in a chat, or several entries with this one."""
        of_role = _of_role(ticket, BotMessageRole.ENTRY)
        from_entry_on = of_role.where(ticket_posts.c.entry >= entry, ticket_posts.c.chat_id == chat_id)
        found = await self._find(from_entry_on.order_by(ticket_posts.c.entry, ticket_posts.c.message_id.desc()))
        return next((each for each in found if int(each.argument or each.entry) <= entry), None)

    async def questions(self, ticket: str, chat_id: int) -> tuple[BotMessage, ...]:
        """Return the questions to agents about a ticket in a chat, oldest first."""
        questions = _of_role(ticket, BotMessageRole.QUESTION).order_by(ticket_posts.c.message_id)
        return tuple(question for question in await self._find(questions) if question.chat_id == chat_id)

    async def in_staff_chats(self, user_id: int) -> tuple[BotMessage, ...]:
        """Return the bot's messages of a user's tickets in the chats of staff, oldest first in each."""
        of_tickets = select(ticket_posts).join(tickets, tickets.c.reference == ticket_posts.c.ticket)
        elsewhere = of_tickets.where(tickets.c.user_id == user_id, ticket_posts.c.chat_id != tickets.c.user_id)
        return await self._find(elsewhere.order_by(ticket_posts.c.chat_id, ticket_posts.c.message_id))

    async def of_topic(self, chat_id: int, topic_id: int) -> str | None:
        """Return the reference of a topic's ticket."""
        of_topic = select(ticket_posts.c.ticket).where(_is_of_topic(chat_id, topic_id))
        found: str | None = await self._connection.scalar(of_topic.limit(1))
        return found

    async def topic(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest topic of a ticket in a chat."""
        # We filter by chat in Python. With a chat in the query, SQLite would read all messages of the chat.
        topics = await self._find(_of_role(ticket, BotMessageRole.TOPIC).order_by(ticket_posts.c.message_id.desc()))
        return next((topic for topic in topics if topic.chat_id == chat_id), None)

    async def delete(self, chat_id: int, message_id: int) -> None:
        """Delete one message that no longer exists in Telegram."""
        await self._change(delete(ticket_posts).where(_is_message(chat_id, message_id)))

    async def delete_topic(self, chat_id: int, topic_id: int) -> None:
        """Delete the messages of a topic that no longer exists in Telegram."""
        await self._change(delete(ticket_posts).where(_is_of_topic(chat_id, topic_id)))

    async def delete_in_chat(self, chat_id: int) -> None:
        """Delete the messages in a group that got a new id. Agents can no longer reply to them."""
        await self._change(delete(ticket_posts).where(ticket_posts.c.chat_id == chat_id))

    def _to_value(self, known: dict[str, Any]) -> BotMessage:
        return BotMessage(**{**known, "role": BotMessageRole(known["role"])})


def _of_role(ticket: str, role: BotMessageRole) -> Select[Any]:
    return select(ticket_posts).where(ticket_posts.c.ticket == ticket, ticket_posts.c.role == role)


def _is_message(chat_id: int, message_id: int) -> ColumnElement[bool]:
    return (ticket_posts.c.chat_id == chat_id) & (ticket_posts.c.message_id == message_id)


def _is_of_topic(chat_id: int, topic_id: int) -> ColumnElement[bool]:
    return (ticket_posts.c.chat_id == chat_id) & (ticket_posts.c.topic_id == topic_id)
