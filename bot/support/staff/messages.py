"""Send messages of a ticket to agents, ask agents questions, and find the ticket of a message.

An agent answers a question by a reply to it. The row of the question's message says what was asked. An answer is
taken once, because its message is.
"""

from dataclasses import dataclass

from telegram import Message

from bot.infra.db.database import Database
from bot.infra.telegram.ui.questions import AnswerHandler, OpenQuestion
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import BotMessage, BotMessageRole
from bot.support.staff.session import StaffSession, replied_message_id
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.repository import TicketRepository


class TicketMessages:
    """Send messages of tickets to agents, and find the ticket of a message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def say(
        self,
        staff: StaffSession,
        ticket: Ticket,
        screen: Screen,
        role: BotMessageRole = BotMessageRole.REMARK,
        argument: str = "",
    ) -> None:
        """Send a message of a ticket, and save which ticket it belongs to."""
        await self._save(staff, ticket, await staff.say(screen), role, argument)

    async def replace_question(self, staff: StaffSession, ticket: Ticket, question: str) -> None:
        """Save that the pressed message asks another question now. Do nothing if Telegram doesn't name it."""
        await self._save(staff, ticket, staff.message_id, BotMessageRole.QUESTION, str(OpenQuestion(question)))

    async def forget(self, staff: StaffSession) -> None:
        """Delete the pressed message from the ticket's messages, because it no longer exists in Telegram."""
        if staff.message_id is not None:
            async with self._database.transaction() as tx:
                await BotMessageRepository(tx).delete(staff.chat_id, staff.message_id)

    async def _save(
        self, staff: StaffSession, ticket: Ticket, message_id: int | None, role: BotMessageRole, argument: str
    ) -> None:
        if message_id is None:
            return
        bot_message = BotMessage(
            chat_id=staff.chat_id,
            message_id=message_id,
            ticket=ticket.reference,
            role=role,
            topic_id=staff.topic_id,
            argument=argument,
            at=staff.now,
        )
        async with self._database.transaction() as tx:
            await BotMessageRepository(tx).add(bot_message)

    async def ticket_of(self, staff: StaffSession, message: Message | None) -> Ticket | None:
        """Return the ticket that the message replies to, or the ticket of its topic."""
        answered = replied_message_id(message) if message is not None else None
        async with self._database.reading() as tx:
            bot_message = await BotMessageRepository(tx).get(staff.chat_id, answered) if answered else None
            reference = bot_message.ticket if bot_message else None
            if reference is None and staff.topic_id is not None:
                reference = await BotMessageRepository(tx).of_topic(staff.chat_id, staff.topic_id)
            return await TicketRepository(tx).get(reference) if reference else None

    async def is_of_ticket(self, staff: StaffSession) -> bool:
        """Return whether the agent's message, or the one they pressed a button of, belongs to a ticket."""
        if staff.message_id is None:
            return False
        async with self._database.reading() as tx:
            return await BotMessageRepository(tx).get(staff.chat_id, staff.message_id) is not None


@dataclass(frozen=True, slots=True)
class TicketReply:
    """An agent's reply to a question about a ticket."""

    staff: StaffSession
    ticket: Ticket
    question_message: BotMessage
    """The message with the question."""

    @property
    def question(self) -> OpenQuestion:
        """The question that was asked."""
        return OpenQuestion.read(self.question_message.argument)


TakeReply = AnswerHandler[TicketReply]


async def ask_agent(
    messages: TicketMessages, staff: StaffSession, ticket: Ticket, question: str, screen: Screen
) -> None:
    """Ask an agent. Replies go to the handler registered for `question`."""
    await messages.say(staff, ticket, screen, BotMessageRole.QUESTION, str(OpenQuestion(question)))
