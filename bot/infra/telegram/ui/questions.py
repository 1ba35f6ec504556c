"""Questions with typed answers. An open question is saved in a row, and the message goes to its answer handler.

Three kinds of rows save open questions, so that they survive a restart:

- the row of a user, for questions outside of a draft (`users/questions.py`).
- a draft, for the question of its step (`checkout/conversation.py`).
- the row of a message, for questions to support agents, who reply to that message (`support/staff/messages.py`).

Each kind has a `Questions` object, which finds the open question. An answer is saved in one transaction with a mark
that its update or message was handled. After a crash, handling the same update again changes nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from telegram import Message

S = TypeVar("S")

AnswerHandler = Callable[[S, str, Message], Awaitable[object]]
"""Gets the session, the question's argument and the message. It saves the answer or shows the question again."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for its answer: its name and its argument."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        """Return the question as text for a row."""
        return f"{self.name}:{self.argument}"

    @classmethod
    def read(cls, text: str) -> "OpenQuestion":
        """Return the question from a row's text."""
        name, _colon, argument = text.partition(":")
        return cls(name, argument)


async def _never_handled(_: object) -> bool:
    return False


class Questions(Generic[S]):
    """The questions of one kind.

    Args:
        find_open: returns the question that this session can answer, or None.
        answers: name of a question -> the function that handles its answer.
        show_handled: returns whether the update was handled before, in a failed attempt or before a crash. If so, it
            shows the result again. Answers that are recognised by their message don't need it.
    """

    def __init__(
        self,
        find_open: Callable[[S], OpenQuestion | None],
        answers: Mapping[str, AnswerHandler[S]],
        show_handled: Callable[[S], Awaitable[bool]] = _never_handled,
    ) -> None:
        self._find_open = find_open
        self._answers = answers
        self._show_handled = show_handled

    async def take(self, session: S, message: Message) -> bool:
        """Pass the message to the handler of the open question. Return whether a question was open."""
        if await self._show_handled(session):
            return True
        question = self._find_open(session)
        answer = None if question is None else self._answers.get(question.name)
        if question is None or answer is None:
            return False
        await answer(session, question.argument, message)
        return True
