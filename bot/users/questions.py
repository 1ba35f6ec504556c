"""Questions outside of a draft whose answer is typed: a phrase, a recipient's name, a time zone.

Which one is open is saved with the user, so that it survives a restart. It ends with its answer, with a press of any
button and with any command: nothing that is meant for something else is ever taken for its answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, TypeHandler, filters

from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.users.model import Person
from bot.users.session import SESSION, Session

TYPED: Final = PRIVATE & ~filters.COMMAND

Answer = Callable[[Session, str, str], Awaitable[None]]
"""Takes the session, the question's argument and what was typed.

It saves `answered(session)` in the transaction that saves the answer, or shows the question again.
"""

WholeAnswer = Callable[[Session, str, Message], Awaitable[None]]
"""The same for answers that may be more than text: formatted text, a picture."""


async def ask(session: Session, question: str, screen: Screen, argument: str = "") -> None:
    """Show `screen`, and give what is typed next to the answer registered as `question`."""
    await session.save_user(replace(session.person, awaits=f"{question}:{argument}"))
    await session.show(screen)


def answered(session: Session) -> Person:
    """Return the user with the open question answered by this session, to be saved with what the answer changes."""
    session.person = replace(session.person, awaits=None, answered_update_id=session.update_id)
    return session.person


def forget_handler() -> Handler:
    """Return the handler that ends the open question at a command or a press. It comes before all others."""
    return TypeHandler(Update, _forget)


def answer_handler(answers: Mapping[str, Answer], whole: Mapping[str, WholeAnswer]) -> Handler:
    """Return the handler of what is typed while a question is open. It comes before the conversation."""

    async def typed(update: Update, _: Context) -> None:
        session = SESSION.get()
        if session.is_answered:
            # It was taken before a crash. The draft must not take it for an answer to a question of its own.
            await session.show(Screen(session.t("question.taken")))
            raise ApplicationHandlerStop
        question, _separator, argument = (session.person.awaits or "").partition(":")
        message = update.effective_message
        if question in whole and message is not None:
            await whole[question](session, argument, message)
            raise ApplicationHandlerStop
        answer = answers.get(question)
        if answer is None:
            return
        text = message.text if message else None
        if text is None:
            await session.show(Screen(session.t("talk.only_text")))
        else:
            await answer(session, argument, text)
        raise ApplicationHandlerStop

    return MessageHandler(TYPED, typed)


async def _forget(update: Update, _: Context) -> None:
    session = SESSION.get()
    text = update.effective_message.text if update.effective_message else None
    is_command = update.callback_query is None and text is not None and text.startswith("/")
    is_here = update.effective_chat is not None and update.effective_chat.id == session.chat_id
    if is_here and session.person.awaits and (is_command or update.callback_query is not None):
        await session.save_user(replace(session.person, awaits=None))
