"""Create and update the cards and topics of tickets in support's chats.

The card is a ticket's first message, and is kept up to date. In a chat without topics, the ticket's messages reply to
its card. We save each message and topic before we request the next one, so that a crash doesn't create a topic twice. A
deleted topic or card is created again. A topic that was closed by hand is opened again. If the bot lacks the right for
that, the ticket goes on with a new card in General.
"""

from dataclasses import replace

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.outbound.sender import (
    Delivered,
    Gone,
    Invalid,
    Moved,
    NotModified,
    Outcome,
    TryLater,
    Unreachable,
)
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.staff.repository import MovedChatRepository
from bot.support.cases import order_of, read_case
from bot.support.entries import Place
from bot.support.model import BotMessage, BotMessageRole, Ticket, TicketStatus
from bot.support.repository import BotMessageRepository, TicketRepository
from bot.support.screens import staff as staff_screens
from bot.users.repository import GroupRepository

TOPIC_CLOSED = "topic_closed"
TOPIC_GONE = ("thread not found", "topic_deleted", "topic_id_invalid", TOPIC_CLOSED)


class TicketTopics:
    """Create and update the cards and topics of tickets."""

    def __init__(self, infra: Infra) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._clock = infra.clock

    async def render_card(self, reader: Reader, ticket: Ticket, notice: str = "", *, has_topic: bool = False) -> Screen:
        """Return the ticket's card, with `notice` above it."""
        async with self._database.reading() as tx:
            case = await read_case(tx, ticket.user_id, ticket.order_reference)
        names = await self._messenger.names.find((ticket.claimed_by, ticket.closed_by, *case.people))
        return staff_screens.show_card(replace(reader, names=names), ticket, case, notice=notice, has_topic=has_topic)

    async def find_or_send_card(
        self, chat_id: int, reader: Reader, ticket: Ticket, notice: str = ""
    ) -> BotMessage | DeliveryOutcome:
        """Return the ticket's card in this chat. If there is none, send one with `notice`.

        If the card can't be sent now, return the outcome for the outbox.
        """
        async with self._database.reading() as tx:
            known = await BotMessageRepository(tx).card(ticket.reference, chat_id)
        if known is not None:
            return known
        topic = await self._find_or_open_topic(chat_id, reader, ticket)
        return await self._send_card(chat_id, reader, ticket, topic, notice) if isinstance(topic, int | None) else topic

    async def update(self, chat_id: int, reader: Reader, ticket: Ticket) -> DeliveryOutcome:
        """Update the card and its topic. Send a deleted card again."""
        card = await self.find_or_send_card(chat_id, reader, ticket)
        if not isinstance(card, BotMessage):
            return card
        screen = await self.render_card(reader, ticket, has_topic=card.topic_id is not None)
        edited = await self._messenger.edit_text(
            chat_id, card.message_id, screen.text, screen.keyboard, priority="talk"
        )
        if isinstance(edited, Gone | Invalid):
            sent = await self._send_card(chat_id, reader, ticket, card.topic_id)
            if not isinstance(sent, BotMessage):
                return sent
        elif not isinstance(edited, Delivered | NotModified):
            return await self.handle_outcome(chat_id, None, edited)
        return await self._update_topic(chat_id, reader, ticket)

    def place_for(self, card: BotMessage, reply_to: int | None = None) -> Place:
        """Return where to send a message of the ticket. Without a topic, it replies to `reply_to` or to the card."""
        replies_to = reply_to if card.topic_id is not None else reply_to or card.message_id
        return Place(card.chat_id, card.topic_id, replies_to)

    async def handle_outcome(self, chat_id: int, topic_id: int | None, outcome: Outcome) -> DeliveryOutcome:
        """Return the outcome of a call, for the outbox. The next attempt has a topic that is open."""
        if topic_id is not None and _is_without_topic(outcome):
            if _says(outcome, TOPIC_CLOSED):
                opened = await self._messenger.topics.reopen_topic(chat_id, topic_id)
                if not isinstance(opened, Invalid | Unreachable):
                    return RetryLater(0) if isinstance(opened, Delivered | NotModified) else delivery_outcome(opened)
            async with self._database.transaction() as tx:
                await BotMessageRepository(tx).delete_topic(chat_id, topic_id)
            return RetryLater(0)
        delivered = delivery_outcome(outcome)
        return replace(delivered, topic_id=topic_id) if isinstance(delivered, Sent) else delivered

    async def _find_or_open_topic(self, chat_id: int, reader: Reader, ticket: Ticket) -> int | DeliveryOutcome | None:
        """Return the id of the ticket's topic. Return None if the chat has no topics, or we may not open one."""
        async with self._database.reading() as tx:
            known = await BotMessageRepository(tx).topic(ticket.reference, chat_id)
        if known is not None:
            return known.topic_id
        has_topics = await self._messenger.topics.has_topics(chat_id)
        if not isinstance(has_topics, bool):
            return await self.handle_outcome(chat_id, None, has_topics)
        if not has_topics:
            return None
        opened = await self._messenger.topics.open_topic(chat_id, await self._topic_name(reader, ticket))
        if isinstance(opened, Invalid):
            return None
        if not isinstance(opened, Delivered) or opened.message_id is None:
            return await self.handle_outcome(chat_id, None, opened)
        await self._save_bot_message(chat_id, ticket, BotMessageRole.TOPIC, opened.message_id, opened.message_id)
        return opened.message_id

    async def _send_card(
        self, chat_id: int, reader: Reader, ticket: Ticket, topic_id: int | None, notice: str = ""
    ) -> BotMessage | DeliveryOutcome:
        screen = await self.render_card(reader, ticket, notice, has_topic=topic_id is not None)
        sent = await self._messenger.send_text(
            chat_id, screen.text, screen.keyboard, priority="talk", topic_id=topic_id
        )
        if not isinstance(sent, Delivered) or sent.message_id is None:
            return await self.handle_outcome(chat_id, topic_id, sent)
        return await self._save_bot_message(chat_id, ticket, BotMessageRole.CARD, sent.message_id, topic_id)

    async def _update_topic(self, chat_id: int, reader: Reader, ticket: Ticket) -> DeliveryOutcome:
        """Rename the topic, and close or reopen it, if the ticket's status has changed."""
        async with self._database.reading() as tx:
            topic = await BotMessageRepository(tx).topic(ticket.reference, chat_id)
        if topic is None or topic.topic_id is None or (topic.argument or TicketStatus.OPEN) == ticket.status:
            return Sent()
        topics, where = self._messenger.topics, (chat_id, topic.topic_id)
        open_or_close = topics.reopen_topic if ticket.is_open else topics.close_topic
        name = await self._topic_name(reader, ticket)
        for outcome in (await topics.rename_topic(*where, name), await open_or_close(*where)):
            if isinstance(outcome, TryLater | Moved):
                return await self.handle_outcome(*where, outcome)
        async with self._database.transaction() as tx:
            await BotMessageRepository(tx).add(replace(topic, argument=str(ticket.status)))
        return Sent()

    async def _topic_name(self, reader: Reader, ticket: Ticket) -> str:
        async with self._database.reading() as tx:
            order = await order_of(tx, ticket)
        return staff_screens.topic_name(reader.t, ticket, order)

    async def _save_bot_message(
        self, chat_id: int, ticket: Ticket, role: BotMessageRole, message_id: int, topic_id: int | None
    ) -> BotMessage:
        bot_message = BotMessage(
            chat_id=chat_id,
            message_id=message_id,
            ticket=ticket.reference,
            role=role,
            topic_id=topic_id,
            at=self._clock.now(),
        )
        async with self._database.transaction() as tx:
            if await TicketRepository(tx).get(ticket.reference) is not None:
                await BotMessageRepository(tx).add(bot_message)
        return bot_message


async def move_group(tx: Transaction, old: int, new: int) -> None:
    """Save the new id of the staff's group. Telegram says it in a message, or in its answer to one of the outbox."""
    await MovedChatRepository(tx).save(old, new)
    await BotMessageRepository(tx).delete_in_chat(old)
    await GroupRepository(tx).move(old, new)


def _is_without_topic(outcome: Outcome) -> bool:
    return any(_says(outcome, phrase) for phrase in TOPIC_GONE)


def _says(outcome: Outcome, phrase: str) -> bool:
    return isinstance(outcome, Invalid) and phrase in outcome.description.lower()
