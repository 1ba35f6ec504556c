"""Routes: a button with an action is registered with a function for each of its actions."""

from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace
from typing import Any

import pytest
from telegram.ext import ApplicationHandlerStop

from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.router import Audience, Route, Routes

NO_CONTEXT: Any = None


class LampAction(StrEnum):
    """What a button does."""

    ON = "on"
    OFF = "off"


@dataclass(frozen=True)
class LampButton(Callback, prefix="test-lamp"):
    """A button with an action."""

    number: int
    action: LampAction


class Lamps:
    """Takes the buttons."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def press(self, session: str, button: LampButton, act: Any) -> None:
        """Do the action, for the session that pressed."""
        await act(session, button.number)

    async def on(self, session: str, number: int) -> None:
        """Remember it."""
        self.done.append(f"{session} {number} on")

    async def off(self, session: str, number: int) -> None:
        """Remember it."""
        self.done.append(f"{session} {number} off")


async def _refuse(_: object) -> None:
    raise AssertionError("refused")


async def _open(_: object) -> str:
    return "emma"


async def test_a_press_reaches_the_function_of_its_action() -> None:
    lamps, routes = Lamps(), Routes[str]()
    routes.add_actions(LampButton, lamps.press, {LampAction.ON: lamps.on, LampAction.OFF: lamps.off}, belongs_to="lamp")
    (handler,) = routes.build_handlers(_open, _refuse)
    for action in LampAction:
        data = LampButton(7, action).pack()
        update: Any = SimpleNamespace(callback_query=SimpleNamespace(data=data))
        with pytest.raises(ApplicationHandlerStop):
            await handler.callback(update, NO_CONTEXT)
    assert lamps.done == ["emma 7 on", "emma 7 off"]
    assert list(routes.list_routes()) == [Route("test-lamp", Audience.EVERYONE, "lamp")]


def test_an_action_without_a_function_is_refused_at_the_start() -> None:
    lamps, routes = Lamps(), Routes[str]()
    with pytest.raises(ValueError, match="LampButton has no function for off"):
        routes.add_actions(LampButton, lamps.press, {LampAction.ON: lamps.on})


def test_a_button_has_one_handler() -> None:
    lamps, routes = Lamps(), Routes[str]()
    actions = dict.fromkeys(LampAction, lamps.on)
    routes.add_actions(LampButton, lamps.press, actions)
    with pytest.raises(ValueError, match="two handlers"):
        routes.add_actions(LampButton, lamps.press, actions)
