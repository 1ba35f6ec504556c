"""Questions to support agents about a ticket: an agent answers in a reply to the question, in any chat of theirs.

The row of the question's message keeps what was asked. An answer is taken once, because its message is.
"""

from dataclasses import dataclass

from bot.infra.telegram.ui.questions import Answer, OpenQuestion
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import PostRole, TicketPost
from bot.support.staff.messages import TicketMessages
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket


@dataclass(frozen=True, slots=True)
class TicketReply:
    """An agent's reply to a question about a ticket."""

    staff: StaffSession
    ticket: Ticket
    post: TicketPost
    """The message with the question."""

    @property
    def question(self) -> OpenQuestion:
        """Return what was asked."""
        return OpenQuestion.read(self.post.argument)


TakeReply = Answer[TicketReply]


async def ask(messages: TicketMessages, staff: StaffSession, ticket: Ticket, question: str, screen: Screen) -> None:
    """Show `screen`, and give replies to it to the answer registered as `question`."""
    await messages.say(staff, ticket, screen, PostRole.QUESTION, str(OpenQuestion(question)))
