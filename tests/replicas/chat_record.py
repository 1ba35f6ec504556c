"""Everything that the users' apps showed, also what was edited or deleted later."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.e2e.chat_user import Json, text_of

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from tests.e2e.system import System

WAIT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of the bot, or a later version of it."""

    message_id: int
    text: str
    is_new: bool


class ChatRecord:
    """The bot's messages by chat, in the order in which users saw them."""

    def __init__(self, system: "System") -> None:
        app: Any = system.addresses.page_app
        self._box: Sandbox = app.state.box
        self._shown: dict[int, list[Shown]] = defaultdict(list)
        self._after = 0

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            await self._box.events.wait(self._after, WAIT_SECONDS)
            self._catch_up()

    def _catch_up(self) -> None:
        for event in self._box.events.since(self._after):
            assert event["type"] != "reset", "the record has a gap"
            self._after = event["seq"]
            if event["type"] in {"message", "edit"}:
                self._take(event)

    def of(self, chat_id: int) -> list[Shown]:
        """Return what a chat showed until now."""
        self._catch_up()  # a user can have seen a message before `run` was woken by it
        return self._shown[chat_id]

    def messages(self, chat_id: int) -> Iterator[Shown]:
        """Yield the new messages of a chat until now, as they were first."""
        self._catch_up()
        return (shown for shown in self._shown[chat_id] if shown.is_new)

    def _take(self, event: Json) -> None:
        message = event["message"]
        if message.get("from", {}).get("is_bot"):
            shown = Shown(message["message_id"], text_of(message), event["type"] == "message")
            self._shown[event["chat_id"]].append(shown)


async def stop(task: "asyncio.Task[None]") -> None:
    """Cancel a task, and raise its error if it has ended with one."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return
