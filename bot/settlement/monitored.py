"""The settlement service with somebody who listens how it answers, whoever of the bot asks it.

The poller notices a refused key or an outage only while it has orders to watch; a user who asks for the rate notices
it always. Listening only notes in memory: a refusal or an answer reaches its caller before anything is told of it.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.settlement.health import Health
from bot.settlement.model import (
    DepositRails,
    KeyRefused,
    Newest,
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
    """`Settlement` of which `health` hears each answer and each failure.

    `on_slow_down` hears of each request to call less often (429): the service's limit is one for all that use its key.
    """

    def __init__(self, settlement: Settlement, health: Health, on_slow_down: Callable[[], None] = lambda: None) -> None:
        self._settlement = settlement
        self._health = health
        self._on_slow_down = on_slow_down

    async def quote(self) -> Quote:
        """Return the cached rate (settlement API, 4.1)."""
        return await self._heard(self._settlement.quote())

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2)."""
        methods = await self._heard(self._settlement.payout_methods())
        self._health.listed(len(methods))
        return methods

    async def deposit_channels(self) -> frozenset[str]:
        """Return the channels beside Lightning (4.3)."""
        return await self._heard(self._settlement.deposit_channels())

    async def deposit_rails(self) -> DepositRails:
        """All that the service tells of its rails (4.3)."""
        return await self._heard(self._settlement.deposit_rails())

    async def platform_stats(self) -> PlatformStats:
        """Return the service's own figures (4.4)."""
        return await self._heard(self._settlement.platform_stats())

    async def place(self, request: OrderRequest) -> Placed:
        """Create an order (4.5): exactly one request."""
        return await self._heard(self._settlement.place(request), placing=True)

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6)."""
        return await self._heard(self._settlement.look_up(service_id))

    async def newest(self, limit: int = 100) -> Newest:
        """Return the newest orders (4.7)."""
        return await self._heard(self._settlement.newest(limit))

    async def _heard(self, call: Awaitable[T], *, placing: bool = False) -> T:
        try:
            answer = await call
        except KeyRefused:
            self._health.refused()
            raise
        except SlowDown:
            # Neither a failure nor an answer: somebody answers, but not to the question.
            self._on_slow_down()
            raise
        except (OrderNotFound, Refused):
            self._health.answered(placing=placing)
            raise
        except (ServiceDown, OutcomeUnknown, OutOfReach):
            self._health.failed(placing=placing)
            raise
        self._health.answered(placing=placing)
        return answer
