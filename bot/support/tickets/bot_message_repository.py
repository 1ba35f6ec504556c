"""Read and write which messages of the bot belong to tickets."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, delete, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.support.model import BotMessage, BotMessageRole
from bot.support.tickets.tables import ticket_posts, tickets

CHAT = bindparam("chat", type_=BigInteger())
ONE = select(ticket_posts).where(
    ticket_posts.c.chat_id == CHAT, ticket_posts.c.message_id == bindparam("message", type_=BigInteger())
)
CARDS = (
    select(ticket_posts)
    .where(ticket_posts.c.ticket == bindparam("of_ticket"), ticket_posts.c.role == BotMessageRole.CARD)
    .order_by(ticket_posts.c.at.desc(), ticket_posts.c.message_id.desc())
)
OF_ENTRY = (
    select(ticket_posts)
    .where(
        ticket_posts.c.ticket == bindparam("of_ticket"),
        ticket_posts.c.role == BotMessageRole.ENTRY,
        ticket_posts.c.entry >= bindparam("number"),
        ticket_posts.c.chat_id == CHAT,
    )
    .order_by(ticket_posts.c.entry, ticket_posts.c.message_id.desc())
)
IN_STAFF_CHATS = (
    select(ticket_posts)
    .join(tickets, tickets.c.reference == ticket_posts.c.ticket)
    .where(tickets.c.user_id == bindparam("user", type_=BigInteger()))
    .where(ticket_posts.c.chat_id != tickets.c.user_id)
    .order_by(ticket_posts.c.chat_id, ticket_posts.c.message_id)
)
QUESTIONS = (
    select(ticket_posts)
    .where(ticket_posts.c.ticket == bindparam("of_ticket"), ticket_posts.c.role == BotMessageRole.QUESTION)
    .order_by(ticket_posts.c.message_id)
)
OF_TOPIC = (
    select(ticket_posts.c.ticket)
    .where(ticket_posts.c.chat_id == CHAT, ticket_posts.c.topic_id == bindparam("topic", type_=BigInteger()))
    .limit(1)
)
# We filter by chat in Python. With a chat in the query, SQLite would read all messages of the chat.
TOPICS = (
    select(ticket_posts)
    .where(ticket_posts.c.ticket == bindparam("of_ticket"), ticket_posts.c.role == BotMessageRole.TOPIC)
    .order_by(ticket_posts.c.message_id.desc())
)
DELETE_TOPIC = delete(ticket_posts).where(
    ticket_posts.c.chat_id == CHAT, ticket_posts.c.topic_id == bindparam("topic", type_=BigInteger())
)
DELETE_ONE = delete(ticket_posts).where(
    ticket_posts.c.chat_id == CHAT, ticket_posts.c.message_id == bindparam("message", type_=BigInteger())
)
DELETE_IN_CHAT = delete(ticket_posts).where(ticket_posts.c.chat_id == CHAT)


class BotMessageRepository:
    """Read and write the bot's messages of tickets."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, bot_message: BotMessage) -> None:
        """Insert or replace a message."""
        await upsert.insert_or_replace(self._connection, ticket_posts, asdict(bot_message))

    async def get(self, chat_id: int, message_id: int) -> BotMessage | None:
        """Return a message, or None if it belongs to no ticket."""
        return next(iter(await self._all(ONE, {"chat": chat_id, "message": message_id})), None)

    async def card(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest card of a ticket in a chat."""
        return next((card for card in await self.cards(ticket) if card.chat_id == chat_id), None)

    async def cards(self, ticket: str) -> tuple[BotMessage, ...]:
        """Return the newest card of a ticket in each chat."""
        found: dict[int, BotMessage] = {}
        for card in await self._all(CARDS, {"of_ticket": ticket}):
            found.setdefault(card.chat_id, card)
        return tuple(found.values())

    async def of_entry(self, ticket: str, entry: int, chat_id: int) -> BotMessage | None:
        """Return the newest message that shows an entry in a chat, or several entries with this one."""
        found = await self._all(OF_ENTRY, {"of_ticket": ticket, "number": entry, "chat": chat_id})
        return next((each for each in found if int(each.argument or each.entry) <= entry), None)

    async def questions(self, ticket: str, chat_id: int) -> tuple[BotMessage, ...]:
        """Return the questions to agents about a ticket in a chat, oldest first."""
        found = await self._all(QUESTIONS, {"of_ticket": ticket})
        return tuple(question for question in found if question.chat_id == chat_id)

    async def in_staff_chats(self, user_id: int) -> tuple[BotMessage, ...]:
        """Return the bot's messages of a user's tickets in the chats of staff, oldest first in each."""
        return await self._all(IN_STAFF_CHATS, {"user": user_id})

    async def of_topic(self, chat_id: int, topic_id: int) -> str | None:
        """Return the reference of a topic's ticket."""
        found = await self._connection.execute(OF_TOPIC, {"chat": chat_id, "topic": topic_id})
        return found.scalar_one_or_none()

    async def topic(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest topic of a ticket in a chat."""
        topics = await self._all(TOPICS, {"of_ticket": ticket})
        return next((topic for topic in topics if topic.chat_id == chat_id), None)

    async def delete(self, chat_id: int, message_id: int) -> None:
        """Delete one message that no longer exists in Telegram."""
        await self._connection.execute(DELETE_ONE, {"chat": chat_id, "message": message_id})

    async def delete_topic(self, chat_id: int, topic_id: int) -> None:
        """Delete the messages of a topic that no longer exists in Telegram."""
        await self._connection.execute(DELETE_TOPIC, {"chat": chat_id, "topic": topic_id})

    async def delete_in_chat(self, chat_id: int) -> None:
        """Delete the messages in a group that got a new id. Agents can no longer reply to them."""
        await self._connection.execute(DELETE_IN_CHAT, {"chat": chat_id})

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[BotMessage, ...]:
        found = await self._connection.execute(statement, parameters)
        return encryption.read_rows(self._vault, ticket_posts, found.mappings(), _to_bot_message)


def _to_bot_message(known: dict[str, Any]) -> BotMessage:
    return BotMessage(**{**known, "role": BotMessageRole(known["role"])})
