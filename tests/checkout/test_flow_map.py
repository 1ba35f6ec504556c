"""The drawn map of the conversation and the one that runs are the same map."""

import re
from pathlib import Path

import pytest
from telegram.ext import CallbackQueryHandler, CommandHandler, MessageHandler

from bot.checkout import conversation as flow
from bot.checkout.draft import Ask
from bot.checkout.flow import EDITS, STEPS, draw
from bot.checkout.steps import COMMON, QUESTIONS
from bot.infra.telegram.ui.callback_data import NEW

MAP = (Path(flow.__file__).parent / "flow.mmd").read_text(encoding="utf-8")
ARROWS = {
    (source, target, label)
    for source, target, label in re.findall(r"^\s*(\S+) --> (\w+|\[\*\]): (.+)$", MAP, flags=re.MULTILINE)
}


def test_the_drawing_is_up_to_date() -> None:
    assert draw() == MAP, "python -m bot.checkout.flow > bot/checkout/flow.mmd"


def test_every_state_of_the_conversation_is_drawn_and_no_other() -> None:
    drawn = {name for arrow in ARROWS for name in arrow[:2]} - {"[*]"}
    assert drawn == {str(ask) for ask in flow.conversation().states} == {str(ask) for ask in Ask}
    assert list(STEPS) == list(Ask)
    assert QUESTIONS.keys() == STEPS.keys()


def test_every_edit_of_the_review_is_drawn() -> None:
    edits = {target for source, target, label in ARROWS if source == "review" and "edit" in label}
    assert edits == {str(ask) for ask in EDITS.values()}


@pytest.mark.parametrize("ask", list(Ask))
def test_each_state_takes_what_is_typed_and_its_own_buttons(ask: Ask) -> None:
    typed, buttons = flow.conversation().states[ask]
    assert isinstance(typed, MessageHandler)
    assert isinstance(buttons, flow.QuestionButtons)
    assert buttons.actions == {*QUESTIONS[ask].buttons, *COMMON}


@pytest.mark.parametrize("ask", list(Ask))
def test_every_question_can_be_left(ask: Ask) -> None:
    assert any(source == ask and target == "[*]" and "cancel" in label for source, target, label in ARROWS)


def test_the_conversation_begins_and_ends_as_drawn() -> None:
    conversation = flow.conversation()
    commands = {name for h in conversation.entry_points if isinstance(h, CommandHandler) for name in h.commands}
    assert commands == {"send"}
    pressed = [each.pattern for each in flow.around_the_conversation() if isinstance(each, CallbackQueryHandler)]
    assert any(isinstance(pattern, re.Pattern) and pattern.match(NEW) for pattern in pressed)
    assert {name for h in conversation.fallbacks if isinstance(h, CommandHandler) for name in h.commands} == {"cancel"}
    begin = [label for source, target, label in ARROWS if (source, target) == ("[*]", "destination")]
    assert any("/send" in label for label in begin)


def test_the_ways_that_leave_questions_out_are_drawn() -> None:
    shortcuts = {(source, target) for source, target, _ in ARROWS}
    assert {("[*]", "review"), ("[*]", "amount"), ("destination", "amount"), ("destination", "review")} <= shortcuts
    assert ("number", "amount") in shortcuts
