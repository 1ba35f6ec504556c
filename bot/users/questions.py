"""Questions with typed answers. An open question is saved in a row, and the message goes to its answer handler.

Three kinds of rows save open questions, so that they survive a restart:

- the row of a user, for questions outside of a draft: a phrase, a recipient's name, a time zone. These are here.
- a draft, for the question of its step (`checkout/conversation.py`).
- the row of a message, for questions to support agents, who reply to that message (`support/replies.py`).

An answer is saved in one transaction with a mark that its update or message was handled. After a crash, handling the
same update again changes nothing.

An answer, any button and any command close the question of a user, so that no later text is taken for its answer. A
webhook can deliver a press after a later message, and the other way round. A press from before the question doesn't
close it. Text from before the question doesn't answer it: the bot says that it came late.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from telegram import Message, Update
from telegram.ext import filters

from bot.infra.telegram.ui.routes import PRIVATE
from bot.infra.telegram.ui.screen import Screen
from bot.users.model import User
from bot.users.repository import UserRepository
from bot.users.session import Session

TYPED: Final = PRIVATE & ~filters.COMMAND
"""New messages in a private chat that begin with no command."""

AnswerHandler = Callable[[Session, str, Message], Awaitable[object]]
"""Handles an answer. The parameters: the session, the question's argument, and the message.

It saves `mark_answered(session)` in the transaction that saves the answer, or shows the question again.
"""


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


def accept_text(answer: Callable[[Session, str, str], Awaitable[object]]) -> AnswerHandler:
    """Return an answer handler for text. It rejects other messages, and the question stays open."""

    async def take(session: Session, argument: str, message: Message) -> None:
        if message.text is None:
            await session.send_message(Screen(session.t("users.chat.only_text")))
        else:
            await answer(session, argument, message.text)

    return take


async def ask(session: Session, question: str, screen: Screen, argument: str = "") -> None:
    """Show `screen` and save the question. The next typed text goes to the answer registered for it."""
    await save_question(session, OpenQuestion(question, argument))
    await session.ask(screen)


async def save_question(session: Session, question: OpenQuestion) -> None:
    """Save the question that the user is asked."""
    await session.save_user(replace(session.user, open_question=str(question)))


async def save_question_of(session: Session, user_id: int, question: OpenQuestion) -> None:
    """Save the question that a user is asked in their private chat, from an update of any chat.

    Only the question is saved, because the private chat may be changing the rest of the user's row.
    """
    if session.user.id == user_id:
        session.user = replace(session.user, open_question=str(question))
    async with session.infra.database.transaction() as tx:
        await UserRepository(tx).save_question(user_id, str(question))


def get_open_question(session: Session) -> OpenQuestion | None:
    """Return the open question outside of a draft, or None."""
    return OpenQuestion.read(session.user.open_question) if session.user.open_question else None


def mark_answered(session: Session) -> User:
    """Return the user without the open question. Save it together with what the answer changes."""
    session.user = replace(session.user, open_question=None, answered_update_id=session.update_id)
    return session.user


async def close_question(answers: Collection[str], session: Session, update: Update) -> None:
    """Close the open question at a command or a button.

    `answers` are the questions that await a typed answer. Buttons close only these.
    """
    question, text = get_open_question(session), update.message.text if update.message else None
    is_here = update.effective_chat is not None and update.effective_chat.id == session.chat_id
    if question is None or not is_here:
        return
    if update.callback_query is not None:
        closes = question.name in answers and not await session.is_overtaken()
    else:
        closes = text is not None and text.startswith("/")
    if closes:
        await session.save_user(replace(session.user, open_question=None))


async def take_answer(answers: Mapping[str, AnswerHandler], session: Session, update: Update) -> bool:
    """Take what is typed while a question is open. Return False for anything else."""
    message, question = update.message, get_open_question(session)
    if message is None:
        return False
    if session.is_answered:  # before a crash, so the draft doesn't take it for its own
        await session.show(Screen(session.t("users.question.taken")))
    elif question is None or question.name not in answers:
        return False
    elif await session.is_overtaken():
        await session.send_message(Screen(session.t("users.chat.late")))
    else:
        await answers[question.name](session, question.argument, message)
    return True
