"""Typed questions: each is kept in a row while it is open, and what is typed goes to who takes its answer.

Three kinds of rows keep open questions, so that they survive a restart:

- the row of a user keeps one that is asked outside of a draft (`users/questions.py`).
- a draft keeps the question of its step (`checkout/conversation.py`).
- the row of a message keeps one to support agents, who reply to that message (`support/staff/messages.py`).

Each kind has its `Questions`, which says how the open one is found. An answer is saved in one transaction with what
tells that its update, or its message, was taken. Handled again after a crash, the same update changes nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from telegram import Message

S = TypeVar("S")

Answer = Callable[[S, str, Message], Awaitable[object]]
"""Takes the session, the question's argument and the message. It saves the answer, or shows the question again."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for its answer: its name, and what it is about."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        """Return the text that a row keeps."""
        return f"{self.name}:{self.argument}"

    @classmethod
    def read(cls, text: str) -> "OpenQuestion":
        """Return the question of a row."""
        name, _colon, argument = text.partition(":")
        return cls(name, argument)


async def _never_taken(_: object) -> bool:
    return False


class Questions(Generic[S]):
    """The questions of one kind.

    Args:
        find_open: returns the question that this session can answer, or None.
        answers: who takes the answer to which question.
        show_taken: shows what came of an update that was taken before, in a failed attempt or before a crash, and
            returns whether it was. Answers that are known by their message need none.
    """

    def __init__(
        self,
        find_open: Callable[[S], OpenQuestion | None],
        answers: Mapping[str, Answer[S]],
        show_taken: Callable[[S], Awaitable[bool]] = _never_taken,
    ) -> None:
        self._find_open = find_open
        self._answers = answers
        self._show_taken = show_taken

    async def take(self, session: S, message: Message) -> bool:
        """Give the message to who takes the answer to the open question, and return whether there is one."""
        if await self._show_taken(session):
            return True
        question = self._find_open(session)
        answer = None if question is None else self._answers.get(question.name)
        if question is None or answer is None:
            return False
        await answer(session, question.argument, message)
        return True
