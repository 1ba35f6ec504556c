"""Typed questions: an answer goes to its handler, and an update that was handled before changes nothing."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from bot.infra.telegram.ui.questions import OpenQuestion, Questions
from bot.users.questions import accept_text

MESSAGE: Any = object()


@dataclass
class FakeSession:
    question: OpenQuestion | None
    was_taken: bool = False
    shown: int = 0
    answers: list[str] = field(default_factory=list)


async def note(asked: FakeSession, argument: str, _: object) -> None:
    asked.answers.append(argument)


async def show_handled(asked: FakeSession) -> bool:
    asked.shown += asked.was_taken
    return asked.was_taken


QUESTIONS = Questions[FakeSession](lambda asked: asked.question, {"name": note}, show_handled)


async def test_an_answer_goes_to_who_takes_it_with_what_the_question_is_about() -> None:
    asked = FakeSession(OpenQuestion("name", "42"))
    assert await QUESTIONS.take(asked, MESSAGE)
    assert asked.answers == ["42"]


@pytest.mark.parametrize("question", [None, OpenQuestion("another")])
async def test_what_answers_no_question_of_the_kind_is_left_to_others(question: OpenQuestion | None) -> None:
    asked = FakeSession(question)
    assert not await QUESTIONS.take(asked, MESSAGE)
    assert not asked.answers


async def test_an_update_that_was_taken_before_is_shown_and_answers_nothing() -> None:
    asked = FakeSession(OpenQuestion("name"), was_taken=True)
    assert await QUESTIONS.take(asked, MESSAGE)
    assert (asked.shown, asked.answers) == (1, [])


@pytest.mark.parametrize("question", [OpenQuestion("name"), OpenQuestion("text", "thanks:id")])
def test_a_row_keeps_the_question_and_what_it_is_about(question: OpenQuestion) -> None:
    assert OpenQuestion.read(str(question)) == question


@pytest.mark.parametrize(("text", "kept"), [("words", ["words"]), (None, [])])
async def test_a_question_for_text_stays_open_after_anything_else(text: str | None, kept: list[str]) -> None:
    typed, shown = list[str](), list[object]()

    async def take(_: object, __: str, answer: str) -> None:
        typed.append(answer)

    async def show(screen: object) -> None:
        shown.append(screen)

    session: Any = SimpleNamespace(show=show, t=str)
    message: Any = SimpleNamespace(text=text)
    await accept_text(take)(session, "", message)
    assert typed == kept
    assert len(shown) == (text is None)
