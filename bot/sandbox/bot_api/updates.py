"""The queue of updates for the bot, and the long poll that reads it (`getUpdates`).

It works like Telegram's. An update stays until a later offset acknowledges it or a day has passed. A negative offset
keeps that many of the newest. A second long poll ends the first with a conflict.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.server.errors import Conflict

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.world import World

KEPT_SECONDS = 86_400
CONFLICT_PAUSE_SECONDS = 3.0
NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
OTHER_POLL = "terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_ACTIVE = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


@dataclass
class PendingUpdate:
    """An update as the JSON text that is sent. `at` in Unix seconds."""

    id: int
    at: float
    text: str


class UpdateQueue:
    """Unacknowledged updates, oldest first."""

    def __init__(self, world: World, pending: list[PendingUpdate]) -> None:
        self._world = world
        self._pending = OrderedDict((update.id, update) for update in sorted(pending, key=lambda update: update.id))
        self._poll: asyncio.Future[str | None] | None = None
        self._next_conflict = 0.0
        self.arrived = asyncio.Event()
        self.polled = asyncio.Event()
        """Set when the bot asks for updates the first time: from then on it answers."""

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, kind: str, payload: JsonObject) -> None:
        """Queue an update, unless the bot excludes its kind."""
        state = self._world.state
        wanted = kind not in NOT_BY_DEFAULT if state.allowed_updates is None else kind in state.allowed_updates
        if not wanted:
            return
        state.last_update_id += 1
        text = json.dumps({"update_id": state.last_update_id, kind: payload}, ensure_ascii=False)
        update = PendingUpdate(state.last_update_id, self._world.now(), text)
        self._pending[update.id] = update
        self._world.save_state()
        self._world.journal.put("update", str(update.id), update)
        self.arrived.set()
        self._end_poll(None)

    def take(self, offset: int, limit: int) -> list[str]:
        """Acknowledge updates before `offset`. Return the JSON texts of up to `limit` updates."""
        too_old = self._world.now() - KEPT_SECONDS
        if offset < 0:
            offset = next(islice(reversed(self._pending), -offset - 1, None), 0)
        while (first := next(iter(self._pending.values()), None)) is not None and (
            first.id < offset or first.at < too_old
        ):
            self.acknowledge(first.id)
        return [update.text for update in islice(self._pending.values(), limit)]

    async def poll(self, offset: int, limit: int, seconds: float) -> list[str]:
        """Return updates like `take`. If there are none, wait up to `seconds`.

        Raises:
            Conflict: another poll or a webhook has taken over.
        """
        found = self.take(offset, limit)
        if found or not seconds:
            return found
        self._end_poll(OTHER_POLL)
        waiting = self._poll = asyncio.get_running_loop().create_future()
        try:
            reason = await asyncio.wait_for(waiting, seconds)
        except TimeoutError:
            reason = None
        finally:
            if self._poll is waiting:
                self._poll = None
        if reason is not None:
            await self.conflict(reason)
        return self.take(offset, limit)

    async def conflict(self, reason: str) -> None:
        """Reject a poll: the first time at once, then slowly, so that two bots don't compete at full speed.

        Raises:
            Conflict: always.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._next_conflict:
            await asyncio.sleep(CONFLICT_PAUSE_SECONDS)
        else:
            self._next_conflict = loop.time() + CONFLICT_PAUSE_SECONDS
        raise Conflict(reason)

    def end_poll_for_webhook(self) -> None:
        """End a waiting poll because a webhook was set."""
        self._end_poll("terminated by setWebhook request")

    def find_after(self, update_id: int, limit: int) -> list[PendingUpdate]:
        """Return up to `limit` updates that came after this one."""
        return list(islice((update for update in self._pending.values() if update.id > update_id), limit))

    def acknowledge(self, update_id: int) -> None:
        """Remove an update that the bot has received."""
        if self._pending.pop(update_id, None) is not None:
            self._world.journal.forget("update", str(update_id))

    def clear(self) -> None:
        """Remove all pending updates."""
        for update_id in tuple(self._pending):
            self.acknowledge(update_id)

    def _end_poll(self, reason: str | None) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(reason)
