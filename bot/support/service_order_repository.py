"""Find the orders of ours that an order of the service is, or may be."""

from datetime import datetime

from sqlalchemy import bindparam, select

from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.rows import COLUMNS, to_order_if_readable
from bot.orders.tables import IS_CLAIMED, IS_UNCLAIMED, orders

MAX_UNCLAIMED = 20
"""How many orders are read that an order of the service may be."""

REFERENCE_OF = select(orders.c.reference).where(IS_CLAIMED, orders.c.service_id == bindparam("id"))
MAY_BE_LOST = (*(UNCERTAIN_PHASES), Phase.ABANDONED)
UNCLAIMED = (
    select(*COLUMNS)
    .where(
        IS_UNCLAIMED,
        orders.c.method_code == bindparam("code"),
        orders.c.created_at.between(
            bindparam("since", type_=orders.c.created_at.type), bindparam("until", type_=orders.c.created_at.type)
        ),
        orders.c.phase.in_([constant(phase) for phase in sorted(MAY_BE_LOST)]),
    )
    .order_by(orders.c.created_at, orders.c.reference)
    .limit(MAX_UNCLAIMED)
)


class ServiceOrderRepository:
    """Read our orders by what the service reports."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def find_reference(self, service_id: str) -> str | None:
        """Return our reference of the service's order, even if the row can't be read."""
        return (await self._connection.execute(REFERENCE_OF, {"id": service_id})).scalar()

    async def find_unclaimed(self, code: str, since: datetime, until: datetime) -> tuple[Order, ...]:
        """Return orders to a destination that the service may have created, while we have no id of them."""
        found = await self._connection.execute(UNCLAIMED, {"code": code, "since": since, "until": until})
        return tuple(filter(None, (to_order_if_readable(row, self._vault) for row in found)))
