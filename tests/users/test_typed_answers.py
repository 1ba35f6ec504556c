"""Typed questions: an answer goes to its handler, and an update that was handled before changes nothing."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from telegram import Chat, Message, Update

from bot.infra.telegram.ui.screen import Screen
from bot.users.questions import accept_text, take_answer

UPDATE = Update(1, message=Message(1, datetime.now(UTC), Chat(1001, Chat.PRIVATE), text="Ibu"))


class FakeSession:
    """A session whose user has an open question."""

    def __init__(self, question: str | None, *, is_answered: bool = False, is_overtaken: bool = False) -> None:
        self.user = SimpleNamespace(open_question=question)
        self.is_answered = is_answered
        self._is_overtaken = is_overtaken
        self.shown: list[str] = []
        self.answers: list[str] = []

    def t(self, key: str) -> str:
        return key

    async def is_overtaken(self) -> bool:
        return self._is_overtaken

    async def show(self, screen: Screen) -> None:
        self.shown.append(screen.text)

    send_message = show


async def note(session: Any, argument: str, _: object) -> None:
    session.answers.append(argument)


async def take(session: Any) -> bool:
    """Handle the text, and return whether it was an answer."""
    return await take_answer({"name": note}, session, UPDATE)


async def test_an_answer_goes_to_who_takes_it_with_what_the_question_is_about() -> None:
    session = FakeSession("name:42")
    assert await take(session)
    assert (session.answers, session.shown) == (["42"], [])


@pytest.mark.parametrize("question", [None, "another:"])
async def test_what_answers_no_question_is_left_to_others(question: str | None) -> None:
    session = FakeSession(question)
    assert not await take(session)
    assert (session.answers, session.shown) == ([], [])


async def test_text_from_before_the_question_is_no_answer() -> None:
    session = FakeSession("name:", is_overtaken=True)
    assert await take(session)
    assert (session.answers, session.shown) == ([], ["users.chat.late"])


@pytest.mark.parametrize(("text", "kept"), [("words", ["words"]), (None, [])])
async def test_a_question_for_text_stays_open_after_anything_else(text: str | None, kept: list[str]) -> None:
    typed = list[str]()

    async def save(_: object, __: str, answer: str) -> None:
        typed.append(answer)

    session: Any = FakeSession("name:")
    message: Any = SimpleNamespace(text=text)
    await accept_text(save)(session, "", message)
    assert typed == kept
    assert len(session.shown) == (text is None)
