"""Questions outside of a draft with a typed answer: a phrase, a recipient's name, a time zone.

The user's row has the open question. An answer, any button and any command close it, so that no later text is taken
for its answer.

A webhook can deliver a press after a later message, and the other way round. A press from before the question doesn't
close it. Text from before the question doesn't answer it: the bot says that it came late.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, TypeHandler, filters

from bot.infra.telegram.ui.questions import AnswerHandler as AnyAnswerHandler
from bot.infra.telegram.ui.questions import OpenQuestion
from bot.infra.telegram.ui.router import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.users.model import User
from bot.users.repository import UserRepository
from bot.users.session import Session, current_session

TYPED: Final = PRIVATE & ~filters.COMMAND

AnswerHandler = AnyAnswerHandler[Session]
"""Handles an answer. The parameters: the session, the question's argument, and the message.

It saves `mark_answered(session)` in the transaction that saves the answer, or shows the question again.
"""


def accept_text(answer: Callable[[Session, str, str], Awaitable[object]]) -> AnswerHandler:
    """Return an answer handler for text. It rejects other messages, and the question stays open."""

    async def take(session: Session, argument: str, message: Message) -> None:
        if message.text is None:
            await session.show(Screen(session.t("users.chat.only_text")))
        else:
            await answer(session, argument, message.text)

    return take


async def ask(session: Session, question: str, screen: Screen, argument: str = "") -> None:
    """Show `screen` and save the question. The next typed text goes to the answer registered for it."""
    await save_question(session, OpenQuestion(question, argument))
    await session.show(screen)


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


def make_closing_handler(answers: Collection[str]) -> Handler:
    """Return the handler that closes the open question at a command or a button. It runs before all others.

    `answers` are the questions that await a typed answer. Buttons close only these.
    """

    async def close(update: Update, _: Context) -> None:
        session = current_session()
        text = update.message.text if update.message else None
        is_press = update.callback_query is not None
        is_command = not is_press and text is not None and text.startswith("/")
        is_here = update.effective_chat is not None and update.effective_chat.id == session.chat_id
        question = get_open_question(session)
        if question is None or not is_here or not (is_press or is_command):
            return
        if is_press and (question.name not in answers or await session.is_overtaken()):
            return
        await session.save_user(replace(session.user, open_question=None))

    return TypeHandler(Update, close)


def make_answer_handler(answers: Mapping[str, AnswerHandler]) -> Handler:
    """Return the handler of text that is typed while a question is open. It runs before the conversation."""

    async def typed(update: Update, _: Context) -> None:
        session, message = current_session(), update.effective_message
        if message is None:
            return
        question = get_open_question(session)
        if session.is_answered:  # before a crash, so the draft doesn't take it for its own
            await session.show(Screen(session.t("users.question.taken")))
        elif question is None or question.name not in answers:
            return
        elif await session.is_overtaken():
            await session.send_message(Screen(session.t("users.chat.late")))
        else:
            await answers[question.name](session, question.argument, message)
        raise ApplicationHandlerStop

    return MessageHandler(TYPED, typed)
