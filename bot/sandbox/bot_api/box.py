"""The server's parts in one object, the stream of events that users can see, and the faults that are switched on."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.calls import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.limits import RateLimiter
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.updates import UpdateQueue
    from bot.sandbox.bot_api.world import World

KINDS = frozenset({"delay", "delay_after", "drop_before", "drop_after", "500", "429", "html"})
"""`delay` holds a call back before it takes effect, `delay_after` holds back its answer."""


@dataclass
class Fault:
    """One fault. `method` and `chat_id` None: any. `times` None: until cleared. Waits in seconds."""

    fault: str
    method: str | None = None
    chat_id: int | None = None
    seconds: float = 1.0
    times: int | None = None
    retry_after: int = 5

    def applies_to(self, method: str, chat_id: str) -> bool:
        """Return whether the fault applies to a call."""
        is_left = self.times is None or self.times > 0
        is_method = self.method is None or self.method.lower() == method
        return is_left and is_method and (self.chat_id is None or str(self.chat_id) == chat_id)


@dataclass
class Faults:
    """The active faults of calls."""

    on: list[Fault] = field(default_factory=list)

    def add(self, body: JsonObject) -> Fault:
        """Add a fault.

        Raises:
            PersonError: 400, there is no such fault.
        """
        if body.get("fault") not in KINDS:
            raise PersonError(400, f"fault must be one of {', '.join(sorted(KINDS))}")
        fault = Fault(**{name: value for name, value in body.items() if value is not None})
        self.on.append(fault)
        return fault

    def take(self, method: str, chat_id: str) -> Fault | None:
        """Return the first fault of a call, and count it."""
        for fault in self.on:
            if fault.applies_to(method, chat_id):
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None


KINDS_OF_UPDATES = ("presses", "messages", "memberships")
SHARES = ("lost_requests_share", "lost_answers_share", "repeated_share")
DELIVERY_FAULTS = frozenset(
    {*SHARES, *(f"hold_{kind}{rest}" for kind in KINDS_OF_UPDATES for rest in ("", "_at_least"))}
)
"""What can go wrong with deliveries.

`hold_presses`, `hold_messages`, `hold_memberships`: seconds for which an update of that kind is held back, before it is
sent the first time. Each waits for a random part of them, and at least for the `…_at_least` seconds. Memberships are
those of the bot: a user blocks it or comes back. Other kinds of updates count as messages.

`lost_requests_share`: the share of deliveries, from 0 to 1, that fail and never reach the bot. `lost_answers_share`: of
those that reach the bot and fail for Telegram, so that the bot gets the update again. `repeated_share`: of those that
are sent twice at the same time.
"""


class Deliveries:
    """The faults of deliveries that are switched on."""

    def __init__(self) -> None:
        self.on: dict[str, float] = {}
        self._changed = asyncio.Event()

    def change(self, body: JsonObject) -> None:
        """Change some of the faults. Updates that wait follow the change at once.

        Raises:
            PersonError: 400, an unknown fault.
        """
        if unknown := body.keys() - DELIVERY_FAULTS:
            raise PersonError(400, f"unknown: {', '.join(sorted(unknown))}")
        self.on |= {name: float(value) for name, value in body.items()}
        self._wake()

    def clear(self) -> None:
        """Switch all faults off."""
        self.on.clear()
        self._wake()

    async def hold(self, kind: str) -> None:
        """Wait for as long as an update of this kind is held back."""
        loop = asyncio.get_running_loop()
        began, part = loop.time(), random.random()  # noqa: S311  no secret
        while (remaining := began + self._held_seconds(part, kind) - loop.time()) > 0:
            await self.wait(remaining)

    async def wait(self, seconds: float) -> None:
        """Wait for `seconds`, or until the faults change."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return

    def happens(self, name: str) -> bool:
        """Return whether this fault, one of `SHARES`, happens to the next delivery."""
        return random.random() < self.on.get(name, 0)  # noqa: S311  no secret

    def _held_seconds(self, part: float, kind: str) -> float:
        return max(part * self.on.get(f"hold_{kind}", 0), self.on.get(f"hold_{kind}_at_least", 0))

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


KEPT_CALLS = 5_000
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


@dataclass
class WaitingInlineQuery:
    """An inline query of a user, with the bot's `answer`. `at` in Unix seconds. It isn't saved, as on Telegram."""

    person_id: int
    at: float
    text: str
    answer: JsonObject | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Sandbox:
    """One running server. `waiting`: the users who pressed a button and wait for its answer, by query id."""

    world: World
    events: EventLog
    updates: UpdateQueue
    limiter: RateLimiter
    faults: Faults = field(default_factory=Faults)
    deliveries: Deliveries = field(default_factory=Deliveries)
    waiting: dict[str, asyncio.Future[JsonObject]] = field(default_factory=dict)
    inline_queries: dict[str, WaitingInlineQuery] = field(default_factory=dict)
    inline_count: int = 0
    calls: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=KEPT_CALLS))
    call_count: int = 0
    webhook_changed: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, kind: str, **details: object) -> None:
        """Add an event to the users' stream."""
        self.world.state.last_event = self.events.add(kind, **details)
        self.world.save_state()

    def log_call(self, method: str, chat_id: str, error_code: int | None) -> None:
        """Log a call of the bot."""
        self.call_count += 1
        self.calls.append(
            {
                "seq": self.call_count,
                "at": self.world.now(),
                "method": method,
                "chat_id": int(chat_id) if chat_id.lstrip("-").isdigit() else None,
                "ok": error_code is None,
                "error_code": error_code,
            }
        )
