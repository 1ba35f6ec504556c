"""Tests that the drawing of the conversation agrees with the handlers."""

import re
from pathlib import Path

import pytest
from telegram.ext import MessageHandler

from bot.app import build_declared
from bot.checkout import conversation as flow
from bot.checkout.buttons import DraftAction, DraftButton
from bot.checkout.draft import RequestTerms, Step
from bot.checkout.flow import REQUEST_STEPS, STEPS, draw
from tests.checkout.builders import a_draft

MAP = (Path(flow.__file__).parent / "flow.mmd").read_text(encoding="utf-8")
ARROWS = {
    (source, target, label)
    for source, target, label in re.findall(r"^\s*(\S+) --> (\w+|\[\*\]): (.+)$", MAP, flags=re.MULTILINE)
}
BUTTONS = {
    Step.DESTINATION: {DraftAction.PAGE, DraftAction.RECIPIENT, DraftAction.DESTINATION},
    Step.NUMBER: {DraftAction.NUMBER},
    Step.HOLDER: {DraftAction.SKIP},
    Step.AMOUNT: {DraftAction.AMOUNT},
    Step.REVIEW: {DraftAction.CHANGE, DraftAction.EDIT, DraftAction.CHANNEL, DraftAction.CONFIRM},
}
REQUEST_BUTTONS = {
    **{step: BUTTONS[step] for step in (Step.DESTINATION, Step.NUMBER)},
    Step.REVIEW: BUTTONS[Step.REVIEW] - {DraftAction.CHANNEL},
    Step.HOLDER: set(),
    Step.AMOUNT: {DraftAction.AMOUNT, DraftAction.SKIP},
    Step.NOTE: {DraftAction.SKIP},
    Step.USES: {DraftAction.USES},
    Step.END: {DraftAction.END},
}
COMMON = {DraftAction.SHOW, DraftAction.BACK, DraftAction.CANCEL}
CHECKOUT = build_declared().checkout
CONVERSATION = CHECKOUT.conversation


def test_the_drawing_is_up_to_date() -> None:
    assert draw() == MAP, "python -m bot.checkout.flow > bot/checkout/flow.mmd"


def test_every_state_of_the_conversation_is_drawn_and_no_other() -> None:
    drawn = {name for arrow in ARROWS for name in arrow[:2]} - {"[*]"}
    assert drawn == {str(step) for step in STEPS}
    assert CONVERSATION.states.keys() == {*STEPS, *REQUEST_STEPS} == {*Step}
    assert BUTTONS.keys() == STEPS.keys()
    assert REQUEST_BUTTONS.keys() == REQUEST_STEPS.keys()


@pytest.mark.parametrize("step", list(REQUEST_STEPS))
def test_a_question_about_a_payment_request_has_its_own_buttons(step: Step) -> None:
    draft = a_draft(step=step, terms=RequestTerms())
    assert CHECKOUT.draft_handlers.actions_of(draft) == REQUEST_BUTTONS[step] | COMMON


@pytest.mark.parametrize("step", list(STEPS))
def test_each_state_takes_what_is_typed_and_its_own_buttons(step: Step) -> None:
    typed, buttons = CONVERSATION.states[step]
    assert isinstance(typed, MessageHandler)
    assert isinstance(buttons, flow.ButtonHandler)
    assert buttons.kind is DraftButton
    assert CHECKOUT.draft_handlers.actions_of(a_draft(step=step)) == BUTTONS[step] | COMMON


def test_every_button_of_a_draft_has_a_question() -> None:
    asked = (*BUTTONS.values(), *REQUEST_BUTTONS.values())
    assert {DraftAction.RESUME, *COMMON}.union(*asked) == set(DraftAction)
