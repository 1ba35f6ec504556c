"""Find the orders of ours that an order of the service is, or may be."""

from datetime import datetime

from sqlalchemy import select

from bot.infra.db.columns import constant
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.rows import OrderRows
from bot.orders.tables import IS_CLAIMED, IS_UNCLAIMED, orders

MAX_UNCLAIMED = 20
"""How many orders are read that an order of the service may be."""

MAY_BE_LOST = (*UNCERTAIN_PHASES, Phase.ABANDONED)


class ServiceOrderRepository(OrderRows):
    """Read our orders by what the service reports."""

    async def find_reference(self, service_id: str) -> str | None:
        """Return our reference of the service's order, even if the row can't be read."""
        claimed = select(orders.c.reference).where(IS_CLAIMED, orders.c.service_id == service_id)
        found: str | None = await self._connection.scalar(claimed)
        return found

    async def find_unclaimed(self, code: str, since: datetime, until: datetime) -> tuple[Order, ...]:
        """Return orders to a destination that the service may have created, while we have no id of them."""
        unclaimed = select(orders).where(
            IS_UNCLAIMED,
            orders.c.method_code == code,
            orders.c.created_at.between(since, until),
            orders.c.phase.in_([constant(phase) for phase in sorted(MAY_BE_LOST)]),
        )
        oldest_first = unclaimed.order_by(orders.c.created_at, orders.c.reference)
        return await self._find(oldest_first.limit(MAX_UNCLAIMED))
