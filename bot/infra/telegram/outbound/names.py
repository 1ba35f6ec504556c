"""The first names that users have in Telegram, for the messages that staff read. They are never saved."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from telegram.error import TelegramError
from telegram.ext import ExtBot

from bot.core.text import plain
from bot.infra.telegram.outbound.limiter import Priority

KEEP_SECONDS: Final = 3_600.0
"""How long a name is kept before Telegram is asked again."""

RETRY_SECONDS: Final = 60.0
"""How long Telegram isn't asked again about a user whose name it didn't give."""

LONGEST_WAIT: Final = 3.0
"""Seconds. A message to staff doesn't wait longer for names, and then shows numbers alone."""

MAX_KEPT: Final = 1_000


class Names:
    """Asks Telegram for the first names of users, and keeps them in memory for an hour."""

    def __init__(self, bot: ExtBot[Priority], clock: Callable[[], float] = time.monotonic) -> None:
        self._bot = bot
        self._clock = clock
        self._known: OrderedDict[int, tuple[str, float]] = OrderedDict()

    async def find(self, user_ids: Iterable[int | None]) -> Mapping[int, str]:
        """Return the names of those users whose name Telegram gives. Ids that are None or 0 are left out."""
        wanted = {user_id for user_id in user_ids if user_id}
        unknown = [user_id for user_id in wanted if self._known.get(user_id, ("", 0.0))[1] <= self._clock()]
        await asyncio.gather(*map(self._ask, unknown))
        found = {user_id: self._known[user_id][0] for user_id in wanted if user_id in self._known}
        return {user_id: name for user_id, name in found.items() if name}

    async def _ask(self, user_id: int) -> None:
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                name = plain((await self._bot.get_chat(user_id)).first_name or "")
        except (TelegramError, TimeoutError):
            # The number is shown instead, which says who it is as well.
            name = self._known.get(user_id, ("", 0.0))[0]
            self._keep(user_id, name, RETRY_SECONDS)
        else:
            self._keep(user_id, name, KEEP_SECONDS)

    def _keep(self, user_id: int, name: str, seconds: float) -> None:
        self._known[user_id] = name, self._clock() + seconds
        self._known.move_to_end(user_id)
        while len(self._known) > MAX_KEPT:
            self._known.popitem(last=False)
