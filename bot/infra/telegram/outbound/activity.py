"""Show users that the bot is at work, if an answer takes longer than a second.

Telegram shows "typing…" for five seconds, or until a message arrives. It isn't a message, so it costs nothing of the
limits for messages. Still, only some chats get it at once, so that a slow service doesn't double the calls.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from bot.infra.telegram.outcomes import Delivered, Outcome

AFTER_SECONDS: Final = 1.0
AGAIN_SECONDS: Final = 4.5
MOST_TIMES: Final = 14
"""After a minute, nobody believes it."""

MOST_CHATS: Final = 50


class _Messenger(Protocol):
    async def show_typing(self, chat_id: int) -> Outcome: ...


class ActivityIndicator:
    """Shows in a chat that its update is being handled."""

    def __init__(self, messenger: _Messenger) -> None:
        self._messenger = messenger
        self._showing = 0

    @asynccontextmanager
    async def show_in(self, chat_id: int) -> AsyncIterator[None]:
        """Show it from the second after the block's begin until its end. Failures to show it are ignored."""
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            if self._showing < MOST_CHATS:
                self._showing += 1
                tasks.append(asyncio.create_task(self._show(chat_id), name="activity"))

        timer = asyncio.get_running_loop().call_later(AFTER_SECONDS, begin)
        try:
            yield
        finally:
            timer.cancel()
            for task in tasks:
                self._showing -= 1
                task.cancel()

    async def _show(self, chat_id: int) -> None:
        for _ in range(MOST_TIMES):
            if not isinstance(await self._messenger.show_typing(chat_id), Delivered):
                return
            await asyncio.sleep(AGAIN_SECONDS)
