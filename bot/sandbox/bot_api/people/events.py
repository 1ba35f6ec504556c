"""The stream of events that users can see, for the chat page and for tests that play a user."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject

KEPT_EVENTS = 10_000


class EventLog:
    """Numbered events. The newest are kept for replay. A reader who is too far behind gets a `reset`."""

    def __init__(self, last_seq: int = 0) -> None:
        self.seq = last_seq
        self._events: deque[JsonObject] = deque(maxlen=KEPT_EVENTS)
        self._readers: set[asyncio.Event] = set()

    def add(self, kind: str, **details: object) -> int:
        """Send an event to all readers. Return its number."""
        self.seq += 1
        self._events.append({"seq": self.seq, "type": kind, **details})
        for reader in self._readers:
            reader.set()
        return self.seq

    def since(self, after: int) -> list[JsonObject]:
        """Return the events after number `after`, or one `reset` if some of them were dropped."""
        if after >= self.seq:
            return []
        if not self._events or after + 1 < self._events[0]["seq"]:
            return [{"seq": self.seq, "type": "reset"}]
        newest_first = islice(reversed(self._events), self.seq - after)
        return list(newest_first)[::-1]

    def forget(self) -> None:
        """Make every reader start again."""
        self._events.clear()
        self.add("reset")

    async def wait(self, after: int, seconds: float) -> list[JsonObject]:
        """Return the events after `after` as soon as there is one, or [] after `seconds`."""
        if found := self.since(after):
            return found
        reader = asyncio.Event()
        self._readers.add(reader)
        try:
            await asyncio.wait_for(reader.wait(), seconds)
        except TimeoutError:
            return []
        finally:
            self._readers.discard(reader)
        return self.since(after)
