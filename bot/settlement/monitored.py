"""The settlement service with a record of how every call ended, from any part of the bot.

The poller notices a rejected key or an outage only while orders are open. Other calls notice it at any time, such as a
user who opens the rate. Recording only changes memory, so callers get their answer before any alarm is raised.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.settlement.health import Health
from bot.settlement.model import (
    DepositRails,
    KeyRefused,
    MaySend,
    NewestOrders,
    OrderNotFound,
    OrderReport,
    OrderRequest,
    OutcomeUnknown,
    OutOfReach,
    PayoutMethod,
    Placed,
    PlatformStats,
    Quote,
    Refused,
    ServiceDown,
    Settlement,
    SlowDown,
)

T = TypeVar("T")


class MonitoredSettlement:
    """A `Settlement` that records each answer and each failure in `health`.

    It calls `on_slow_down` when the service asks for fewer requests (429). All calls with the same key share one limit.
    """

    def __init__(self, settlement: Settlement, health: Health, on_slow_down: Callable[[], None] = lambda: None) -> None:
        self._settlement = settlement
        self._health = health
        self._on_slow_down = on_slow_down

    async def quote(self) -> Quote:
        """Return the cached rate (settlement API, 4.1)."""
        return await self._record(self._settlement.quote())

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2)."""
        methods = await self._record(self._settlement.payout_methods())
        self._health.record_methods(len(methods))
        return methods

    async def deposit_channels(self) -> frozenset[str]:
        """Return the channels other than Lightning (4.3)."""
        return await self._record(self._settlement.deposit_channels())

    async def deposit_rails(self) -> DepositRails:
        """Return the service's rails (4.3)."""
        return await self._record(self._settlement.deposit_rails())

    async def platform_stats(self) -> PlatformStats:
        """Return the service's statistics (4.4)."""
        return await self._record(self._settlement.platform_stats())

    async def place(self, request: OrderRequest, may_send: MaySend) -> Placed:
        """Create an order (4.5) with one request, unless `may_send` forbids it."""
        return await self._record(self._settlement.place(request, may_send))

    async def look_up(self, service_id: str) -> OrderReport:
        """Read one order (4.6)."""
        return await self._record(self._settlement.look_up(service_id))

    async def newest(self, limit: int = 100) -> NewestOrders:
        """Read the newest orders (4.7)."""
        return await self._record(self._settlement.newest(limit))

    async def _record(self, call: Awaitable[T]) -> T:
        try:
            answer = await call
        except KeyRefused:
            self._health.record_rejected_key()
            raise
        except SlowDown:
            # Not recorded: the service answered, but not to the question.
            self._on_slow_down()
            raise
        except (OrderNotFound, Refused):
            self._health.record_answer()
            raise
        except (ServiceDown, OutcomeUnknown, OutOfReach):
            self._health.record_failure()
            raise
        self._health.record_answer()
        return answer
