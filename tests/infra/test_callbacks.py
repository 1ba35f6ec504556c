"""Buttons are packed into Telegram's 64 bytes, and only packed data can be read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.telegram.ui.callbacks import Callback, Pattern, read_button


class Action(StrEnum):
    LOOK = "look"
    LOOK_AGAIN = "reread_inbox"


@dataclass(frozen=True)
class ThingButton(Callback, prefix="test"):
    name: Annotated[str, Pattern("[0-9A-Z]{4,16}")]
    action: Action
    page: int = 0
    note: Annotated[str, Pattern(".{0,30}")] = ""


@dataclass(frozen=True)
class OtherThingButton(Callback, prefix="test:other"):
    page: int = 0


def test_the_data_is_the_prefix_and_the_fields() -> None:
    assert ThingButton("R2345AB", Action.LOOK).pack() == "test:R2345AB:look"
    assert ThingButton("R2345AB", Action.LOOK_AGAIN, 3).pack() == "test:R2345AB:reread_inbox:3"
    assert ThingButton("R2345AB", Action.LOOK, note="a:b").pack() == "test:R2345AB:look:0:a:b"
    assert OtherThingButton().pack() == "test:other"


@given(
    st.from_regex("[0-9A-Z]{4,16}", fullmatch=True), st.sampled_from(Action), st.integers(0, 10**9), st.text(max_size=5)
)
def test_what_was_packed_is_read_as_the_same_button(name: str, action: Action, page: int, note: str) -> None:
    button = ThingButton(name, action, page, note)
    assert read_button(button.pack()) == button


@pytest.mark.parametrize(
    "data",
    [
        "",
        "test",
        "test:",
        "test:R2345AB",
        "test:R2345AB:look:",
        "test:R2345AB:looks",
        "test:r2345ab:look",
        "test:R2345AB:look:-1",
        "test:R2345AB:look:01",
        "test:R2345AB:look:1:" + "x" * 31,
        "test:other:x",
        "Test:R2345AB:look",
        "unknown:R2345AB",
    ],
)
def test_what_no_button_has_packed_is_no_button(data: str) -> None:
    assert read_button(data) is None


@pytest.mark.parametrize(
    "button",
    [
        ThingButton("r2345ab", Action.LOOK),
        ThingButton("R2345AB", Action.LOOK, -1),
        ThingButton("R2345AB", Action.LOOK, note="x" * 31),
        ThingButton("R2345ABCDEFGHIJK", Action.LOOK_AGAIN, 1, "é" * 30),
    ],
)
def test_a_button_that_could_not_be_read_again_is_not_packed(button: ThingButton) -> None:
    with pytest.raises(ValueError, match="not a ThingButton"):
        button.pack()
