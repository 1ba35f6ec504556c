"""A row keeps an open question."""

import pytest

from bot.users.questions import OpenQuestion


@pytest.mark.parametrize("question", [OpenQuestion("name"), OpenQuestion("text", "thanks:id")])
def test_a_row_keeps_the_question_and_what_it_is_about(question: OpenQuestion) -> None:
    assert OpenQuestion.read(str(question)) == question
