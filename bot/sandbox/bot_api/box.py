"""The server's parts in one object, for methods and the person API."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.server.delivery_faults import Deliveries

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.people.events import EventLog
    from bot.sandbox.bot_api.server.faults import Faults
    from bot.sandbox.bot_api.server.limits import RateLimiter
    from bot.sandbox.bot_api.updates import UpdateQueue
    from bot.sandbox.bot_api.world import World

KEPT_CALLS = 5_000


@dataclass
class WaitingInlineQuery:
    """An inline query of a user, with the bot's `answer`. `at` in Unix seconds. It isn't saved, as on Telegram."""

    person_id: int
    at: float
    answer: JsonObject | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Sandbox:
    """One running server. `waiting`: the users who pressed a button and wait for its answer, by query id."""

    world: World
    events: EventLog
    updates: UpdateQueue
    limiter: RateLimiter
    faults: Faults
    deliveries: Deliveries = field(default_factory=Deliveries)
    waiting: dict[str, asyncio.Future[JsonObject]] = field(default_factory=dict)
    inline_queries: dict[str, WaitingInlineQuery] = field(default_factory=dict)
    inline_count: int = 0
    calls: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=KEPT_CALLS))
    call_count: int = 0
    logged_out: bool = False
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
