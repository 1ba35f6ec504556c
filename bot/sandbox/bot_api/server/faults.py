"""Faults: network and server failures, switched on for the next calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.server.errors import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject

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
        if self.times is not None and self.times <= 0:
            return False
        if self.method is not None and self.method.lower() != method:
            return False
        return self.chat_id is None or str(self.chat_id) == chat_id


class Faults:
    """The active faults."""

    def __init__(self) -> None:
        self._on: list[Fault] = []

    def add(self, body: JsonObject) -> Fault:
        """Add a fault.

        Raises:
            PersonError: 400, there is no such fault.
        """
        kind = str(body.get("fault"))
        if kind not in KINDS:
            raise PersonError(400, f"fault must be one of {', '.join(sorted(KINDS))}")
        given: dict[str, Any] = {
            name: body[name]
            for name in ("method", "chat_id", "seconds", "times", "retry_after")
            if body.get(name) is not None
        }
        fault = Fault(fault=kind, **given)
        self._on.append(fault)
        return fault

    def listed(self) -> list[JsonObject]:
        """Return all faults, used up or not."""
        return [asdict(fault) for fault in self._on]

    def clear(self) -> None:
        """Remove all faults."""
        self._on.clear()

    def take(self, method: str, chat_id: str) -> Fault | None:
        """Return the first fault of a call, and count it."""
        for fault in self._on:
            if fault.applies_to(method, chat_id):
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None
