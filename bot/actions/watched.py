"""The settlement service with somebody who listens whether it takes our key, whoever of the bot asks it.

The poller notices a refused key only while it has orders to watch; a person who asks for the rate notices it always.
"""

from collections.abc import Awaitable
from typing import TypeVar

import structlog

from bot.actions.alarms import KeyAlarm
from bot.actions.ports import (
    DepositRails,
    KeyRefused,
    Newest,
    OrderNotFound,
    Placed,
    PlatformStats,
    Refused,
    Settlement,
    StoreDown,
    Wish,
)
from bot.domain.order import OrderReport
from bot.domain.payout import PayoutMethod
from bot.domain.quote import Quote

T = TypeVar("T")

log = structlog.get_logger(__name__)


class WatchedSettlement:
    """`Settlement` that tells the alarm of each refusal of the key, and of each answer that shows it taken."""

    def __init__(self, settlement: Settlement, alarm: KeyAlarm) -> None:
        self._settlement = settlement
        self._alarm = alarm

    async def quote(self) -> Quote:
        """The cached rate (settlement API, 4.1)."""
        return await self._heard(self._settlement.quote())

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """The live list (4.2)."""
        return await self._heard(self._settlement.payout_methods())

    async def deposit_channels(self) -> frozenset[str]:
        """The channels beside Lightning (4.3)."""
        return await self._heard(self._settlement.deposit_channels())

    async def deposit_rails(self) -> DepositRails:
        """All that the service tells of its rails (4.3)."""
        return await self._heard(self._settlement.deposit_rails())

    async def platform_stats(self) -> PlatformStats:
        """The service's own figures (4.4)."""
        return await self._heard(self._settlement.platform_stats())

    async def place(self, wish: Wish) -> Placed:
        """Create an order (4.5): exactly one request."""
        return await self._heard(self._settlement.place(wish))

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6)."""
        return await self._heard(self._settlement.look_up(service_id))

    async def newest(self, limit: int = 100) -> Newest:
        """The newest orders (4.7)."""
        return await self._heard(self._settlement.newest(limit))

    async def _heard(self, call: Awaitable[T]) -> T:
        try:
            answer = await call
        except KeyRefused:
            await self._sound(self._alarm.refused())
            raise
        except (OrderNotFound, Refused):
            await self._sound(self._alarm.works())
            raise
        await self._sound(self._alarm.works())
        return answer

    async def _sound(self, alarm: Awaitable[bool]) -> None:
        try:
            await alarm
        except StoreDown:
            # The answer in hand is worth more than the alarm, which comes again with the next call.
            log.warning("alarm_not_kept")
