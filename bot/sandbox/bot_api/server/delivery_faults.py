"""Faults of the delivery to a webhook: updates that are held back, lost, or sent twice."""

from __future__ import annotations

import asyncio
import random
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from bot.sandbox.bot_api.server.errors import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject

MAX_SECONDS = 3600

Kind = Literal["press", "message", "membership"]


@dataclass(frozen=True)
class DeliveryFaults:
    """What goes wrong with deliveries. The fields that end in `_share` are shares from 0 to 1.

    `hold_presses`, `hold_messages`, `hold_memberships`: seconds for which an update of that kind is held back, before
    it is sent the first time. Each waits for a random part of them, and at least for the `…_at_least` seconds.
    Memberships are those of the bot: a user blocks it or comes back. Other kinds of updates count as messages.

    `lost_requests_share`: deliveries that fail and never reach the bot. `lost_answers_share`: deliveries that reach
    the bot and fail for Telegram, so that the bot gets the update again. `repeated_share`: deliveries that are sent
    twice at the same time.
    """

    hold_presses: float = 0
    hold_presses_at_least: float = 0
    hold_messages: float = 0
    hold_messages_at_least: float = 0
    hold_memberships: float = 0
    hold_memberships_at_least: float = 0
    lost_requests_share: float = 0
    lost_answers_share: float = 0
    repeated_share: float = 0


class Deliveries:
    """The faults that are switched on."""

    def __init__(self) -> None:
        self.faults = DeliveryFaults()
        self._changed = asyncio.Event()

    def change(self, body: JsonObject) -> JsonObject:
        """Change some of the faults, and return all of them. Updates that wait follow the change at once.

        Raises:
            PersonError: 400, an unknown fault or a wrong number.
        """
        known = {field.name for field in fields(DeliveryFaults)}
        if unknown := body.keys() - known:
            raise PersonError(400, f"unknown: {', '.join(sorted(unknown))}")
        for name, value in body.items():
            highest = 1 if name.endswith("_share") else MAX_SECONDS
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
                raise PersonError(400, f"{name} must be a number from 0 to {highest}")
        self.faults = replace(self.faults, **body)
        self._wake()
        return self.as_json()

    def clear(self) -> None:
        """Switch all faults off."""
        self.faults = DeliveryFaults()
        self._wake()

    def as_json(self) -> JsonObject:
        """Return all faults."""
        return asdict(self.faults)

    async def hold(self, kind: Kind) -> None:
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

    def loses_request(self) -> bool:
        """Return whether the next delivery fails before it reaches the bot."""
        return _happens(self.faults.lost_requests_share)

    def loses_answer(self) -> bool:
        """Return whether the answer to a delivery is lost."""
        return _happens(self.faults.lost_answers_share)

    def repeats(self) -> bool:
        """Return whether the next delivery is sent twice at the same time."""
        return _happens(self.faults.repeated_share)

    def _held_seconds(self, part: float, kind: Kind) -> float:
        now = self.faults
        most, least = {
            "press": (now.hold_presses, now.hold_presses_at_least),
            "message": (now.hold_messages, now.hold_messages_at_least),
            "membership": (now.hold_memberships, now.hold_memberships_at_least),
        }[kind]
        return max(part * most, least)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _happens(share: float) -> bool:
    return random.random() < share  # noqa: S311  no secret
