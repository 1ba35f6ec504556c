"""Ask agents whether the user should get what they wrote in a ticket's conversation without replying to the bot.

One question is about all that an agent has written and not decided about. It replaces the one before, so that a
conversation isn't full of questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent
from bot.infra.outbox.rendering import RenderWithFacts, with_repeat_note
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.questions import OpenQuestion
from bot.support.model import SEND, BotMessage, TicketEntry
from bot.support.notification_kinds import AboutEntry, StaffNotification
from bot.support.notification_queue import source_chat
from bot.support.notifications.bot_messages import find_entry
from bot.support.notifications.screens import staff_lines as screens
from bot.support.notifications.topics import TicketTopics
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What a question needs.

    Attributes:
        undecided: what the agent has written and not decided about, up to the newest.
        before: the questions to the same agent that this one replaces.
        topic_id: the topic of the conversation, or None in a chat without topics.
    """

    ticket: Ticket
    undecided: tuple[TicketEntry, ...]
    before: tuple[BotMessage, ...]
    topic_id: int | None


class SendQuestions:
    """Render the questions."""

    def __init__(self, topics: TicketTopics) -> None:
        self._topics = topics

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {StaffNotification.ASK_TO_SEND: RenderWithFacts(_read, self.render)}

    async def render(
        self, notification: Notification[AboutEntry], facts: _Facts | None, context: RenderContext
    ) -> DeliveryOutcome:
        """Ask under the agent's newest message. None means that this isn't the newest, or is decided."""
        if facts is None:
            return Sent()
        ticket, newest, chat_id = facts.ticket, facts.undecided[-1], notification.chat_id
        reader = await context.reader_who_knows(ticket.user_id, ticket.claimed_by)
        screen = screens.ask_to_send(
            reader, ticket, newest, len(facts.undecided), _find_obstacle(ticket, newest, context)
        )
        sent = await context.messenger.send_text(
            chat_id,
            with_repeat_note(notification, context.t, screen.text),
            screen.keyboard,
            priority="talk",
            silent=True,
            topic_id=facts.topic_id,
            reply_to=newest.source_message_id,
        )
        if isinstance(sent, Delivered):
            await _remove(context, facts.before)
        return await self._topics.handle_outcome(chat_id, facts.topic_id, sent)


def _find_obstacle(ticket: Ticket, entry: TicketEntry, context: RenderContext) -> Rejection | None:
    """Return why the agent can't reply in this ticket now, or None."""
    try:
        ticket.record_reply(entry.author_id, context.now)
    except Rejection as why:
        return why
    return None


async def _remove(context: RenderContext, questions: tuple[BotMessage, ...]) -> None:
    for question in questions:
        await context.messenger.delete(question.chat_id, question.message_id, priority="talk")
        async with context.database.transaction() as tx:
            await BotMessageRepository(tx).delete(question.chat_id, question.message_id)


async def _read(notification: Notification[AboutEntry], tx: Transaction) -> _Facts | None:
    reference, chat_id = notification.payload.ticket, notification.chat_id
    ticket, entry = await TicketRepository(tx).get(reference), await find_entry(tx, notification)
    if ticket is None or entry is None or chat_id not in {await source_chat(tx, entry), entry.author_id}:
        return None
    undecided = await TicketEntryRepository(tx).undecided_of(reference, entry.author_id)
    if not undecided or undecided[-1].number != entry.number:
        return None
    authors = {each.number: each.author_id for each in await TicketEntryRepository(tx).of_ticket(reference)}
    asked = [each for each in await BotMessageRepository(tx).questions(reference, chat_id) if _is_to_send(each)]
    card = await BotMessageRepository(tx).card(reference, chat_id)
    return _Facts(
        ticket=ticket,
        undecided=undecided,
        before=tuple(each for each in asked if authors.get(each.entry) == entry.author_id),
        topic_id=card.topic_id if card else None,
    )


def _is_to_send(question: BotMessage) -> bool:
    return OpenQuestion.read(question.argument).name == SEND
