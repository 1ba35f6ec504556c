"""Where a ticket stands in a chat of support's: in a topic of its own, or as answers to its card.

Each thing that Telegram has made is remembered before the next one is asked for, so that a crash doubles no topic. A
topic that somebody has deleted is made anew.
"""

from dataclasses import dataclass, replace
from datetime import tzinfo

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import (
    Delivered,
    Gone,
    Invalid,
    Messenger,
    Moved,
    NotModified,
    Outcome,
    TryLater,
)
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.repository import OrderRepository
from bot.staff.chat_repository import MovedChatRepository
from bot.support.cases import Cases
from bot.support.model import PostRole, TicketPost
from bot.support.staff.entries import Place
from bot.support.staff.screens import ticket as staff_ticket
from bot.support.ticket import Ticket, TicketStatus
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository

TOPIC_GONE = ("thread not found", "topic_deleted", "topic_id_invalid")


@dataclass(frozen=True, slots=True)
class Reading:
    """A chat of support's, and how it is read there."""

    chat_id: int
    t: Translator
    zone: tzinfo


class TicketRoom:
    """The cards and topics of tickets."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock, default_locale: str) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._cases = Cases(store)
        self._default_locale = default_locale

    async def card(self, reading: Reading, ticket: Ticket, notice: str = "") -> Screen:
        """The card as it is now."""
        case = await self._cases.of_ticket(ticket)
        return staff_ticket.card(
            Reader(reading.t, reading.zone, self._clock.now()),
            ticket,
            case,
            default_locale=self._default_locale,
            notice=notice,
        )

    async def home(self, reading: Reading, ticket: Ticket, notice: str = "") -> TicketPost | DeliveryOutcome:
        """The ticket's card in this chat, made (with `notice`) where there is none; else why there can't be one now."""
        async with self._store.reading() as tx:
            known = await TicketPostRepository(tx).head(ticket.reference, reading.chat_id)
        if known is not None:
            return known
        topic = await self._topic(reading, ticket)
        return await self._head(reading, ticket, topic, notice) if isinstance(topic, int | None) else topic

    async def update(self, reading: Reading, ticket: Ticket) -> DeliveryOutcome:
        """Bring the card and its topic up to date; a card that is gone is made anew."""
        home = await self.home(reading, ticket)
        if not isinstance(home, TicketPost):
            return home
        screen = await self.card(reading, ticket)
        edited = await self._messenger.edit_text(
            reading.chat_id, home.message_id, screen.text, screen.keyboard, lane="talk"
        )
        if isinstance(edited, Gone | Invalid):
            anew = await self._head(reading, ticket, home.topic_id)
            if not isinstance(anew, TicketPost):
                return anew
        elif not isinstance(edited, Delivered | NotModified):
            return await self.ended(reading.chat_id, None, edited)
        return await self._follow(reading, ticket)

    def place(self, home: TicketPost, reply_to: int | None = None) -> Place:
        """Where a message of the ticket goes; without a topic it answers the card, or whatever is named."""
        answers = reply_to if home.topic_id is not None else reply_to or home.message_id
        return Place(home.chat_id, home.topic_id, answers)

    async def ended(self, chat_id: int, topic_id: int | None, outcome: Outcome) -> DeliveryOutcome:
        """What the outbox keeps of an attempt in this chat; a topic that is gone is made anew next time."""
        if topic_id is not None and _is_without_topic(outcome):
            async with self._store.transaction() as tx:
                await TicketPostRepository(tx).delete_topic(chat_id, topic_id)
            return RetryLater(0)
        told = delivery_outcome(outcome)
        return replace(told, topic_id=topic_id) if isinstance(told, Sent) else told

    async def moved(self, old: int, new: int) -> None:
        """The group has another id from now on."""
        async with self._store.transaction() as tx:
            await MovedChatRepository(tx).save(old, new)
            await TicketPostRepository(tx).delete_in_chat(old)
            await OutboxRepository(tx).move_chat(old, new)

    async def _topic(self, reading: Reading, ticket: Ticket) -> int | DeliveryOutcome | None:
        """The id of its topic; None in a chat that has none, or where we may make none."""
        async with self._store.reading() as tx:
            known = await TicketPostRepository(tx).topic(ticket.reference, reading.chat_id)
        if known is not None:
            return known.topic_id
        has_topics = await self._messenger.rooms.has_topics(reading.chat_id)
        if not isinstance(has_topics, bool):
            return await self.ended(reading.chat_id, None, has_topics)
        if not has_topics:
            return None
        opened = await self._messenger.rooms.open_topic(reading.chat_id, await self._name(reading, ticket))
        if isinstance(opened, Invalid):
            return None
        if not isinstance(opened, Delivered) or opened.message_id is None:
            return await self.ended(reading.chat_id, None, opened)
        await self._remember(reading, ticket, PostRole.TOPIC, opened.message_id, opened.message_id)
        return opened.message_id

    async def _head(
        self, reading: Reading, ticket: Ticket, topic_id: int | None, notice: str = ""
    ) -> TicketPost | DeliveryOutcome:
        screen = await self.card(reading, ticket, notice)
        sent = await self._messenger.send_text(
            reading.chat_id, screen.text, screen.keyboard, lane="talk", topic_id=topic_id
        )
        if not isinstance(sent, Delivered) or sent.message_id is None:
            return await self.ended(reading.chat_id, topic_id, sent)
        return await self._remember(reading, ticket, PostRole.HEAD, sent.message_id, topic_id)

    async def _follow(self, reading: Reading, ticket: Ticket) -> DeliveryOutcome:
        """Let the topic be called and be open as the ticket is; nothing where it is so already."""
        async with self._store.reading() as tx:
            topic = await TicketPostRepository(tx).topic(ticket.reference, reading.chat_id)
        if topic is None or topic.topic_id is None or (topic.argument or TicketStatus.OPEN) == ticket.status:
            return Sent()
        rooms, where = self._messenger.rooms, (reading.chat_id, topic.topic_id)
        turn = rooms.reopen_topic if ticket.is_open else rooms.close_topic
        for outcome in (await rooms.rename_topic(*where, await self._name(reading, ticket)), await turn(*where)):
            if isinstance(outcome, TryLater | Moved):
                return await self.ended(*where, outcome)
        async with self._store.transaction() as tx:
            await TicketPostRepository(tx).add(replace(topic, argument=str(ticket.status)))
        return Sent()

    async def _name(self, reading: Reading, ticket: Ticket) -> str:
        async with self._store.reading() as tx:
            order = await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
        return staff_ticket.topic_name(reading.t, ticket, order)

    async def _remember(
        self, reading: Reading, ticket: Ticket, role: PostRole, message_id: int, topic_id: int | None
    ) -> TicketPost:
        post = TicketPost(
            chat_id=reading.chat_id,
            message_id=message_id,
            ticket=ticket.reference,
            role=role,
            topic_id=topic_id,
            at=self._clock.now(),
        )
        async with self._store.transaction() as tx:
            if await TicketRepository(tx).get(ticket.reference) is not None:
                await TicketPostRepository(tx).add(post)
        return post


def _is_without_topic(outcome: Outcome) -> bool:
    if not isinstance(outcome, Invalid):
        return False
    return any(phrase in outcome.description.lower() for phrase in TOPIC_GONE)
