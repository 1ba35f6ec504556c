"""Routes: a button with an action is registered with a function for each of its actions."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import SimpleNamespace
from typing import Any, cast

import pytest
from telegram import Bot, Chat, Message, MessageEntity, Update

from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.routes import Audience, Command, Routes, read_command


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


async def test_a_press_reaches_the_function_of_its_action() -> None:
    lamps, routes = Lamps(), Routes[str]()
    routes.add_actions(LampButton, lamps.press, {LampAction.ON: lamps.on, LampAction.OFF: lamps.off}, belongs_to="lamp")
    (route,) = routes.routes
    for action in LampAction:
        await route.act("emma", LampButton(7, action))
    assert lamps.done == ["emma 7 on", "emma 7 off"]
    assert (route.name, route.audience, route.belongs_to) == ("test-lamp", Audience.EVERYONE, "lamp")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/rate", Command("rate", "")),
        ("/Rate@Kirim_Bot  now and\nthen", Command("rate", "now and\nthen")),
        ("/rate@another_bot", None),
        ("what is /rate", None),
    ],
)
def test_a_command_is_for_this_bot_and_begins_the_message(text: str, command: Command | None) -> None:
    where = text.index("/")
    entity = MessageEntity(MessageEntity.BOT_COMMAND, where, len(text[where:].split(maxsplit=1)[0]))
    message = Message(1, datetime.now(UTC), Chat(-5, Chat.SUPERGROUP), text=text, entities=[entity])
    message.set_bot(cast("Bot", SimpleNamespace(username="kirim_bot")))
    assert read_command(Update(1, message=message)) == command
    assert read_command(Update(1, edited_message=message)) is None
