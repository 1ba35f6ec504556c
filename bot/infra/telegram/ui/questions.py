"""Questions with typed answers. An open question is saved in a row, and the message goes to its answer handler.

Three kinds of rows save open questions, so that they survive a restart:

- the row of a user, for questions outside of a draft (`users/questions.py`).
- a draft, for the question of its step (`checkout/conversation.py`).
- the row of a message, for questions to support agents, who reply to that message (`support/staff/replies.py`).

The handler of each kind reads the open question and calls its answer. An answer is saved in one transaction with a mark
that its update or message was handled. After a crash, handling the same update again changes nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

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
