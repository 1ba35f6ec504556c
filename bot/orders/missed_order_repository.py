"""Orders about which users missed a message."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.orders.tables import missed_orders

USER = missed_orders.c.user_id == bindparam("user", type_=missed_orders.c.user_id.type)
OF_USER = select(missed_orders).where(USER).order_by(missed_orders.c.at, missed_orders.c.reference)
AT = missed_orders.c.at.type
DELETE = delete(missed_orders).where(
    USER,
    missed_orders.c.reference == bindparam("about"),
    missed_orders.c.at == bindparam("then", type_=AT),
)
FORGET = delete(missed_orders).where(missed_orders.c.at < bindparam("before", type_=AT))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last refused one for good."""

    user_id: int
    reference: str
    at: datetime


class MissedOrderRepository:
    """Read and write the orders about which Telegram refused a message for good, until their user has seen them."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def save(self, missed: MissedOrder) -> None:
        """Insert, or replace the time of the refusal before."""
        await upsert.insert_or_replace(self._connection, missed_orders, asdict(missed))

    async def of_user(self, user_id: int) -> tuple[MissedOrder, ...]:
        """Return what a user has to see, oldest first."""
        found = (await self._connection.execute(OF_USER, {"user": user_id})).mappings()
        return encryption.read_rows(self._vault, missed_orders, found, _missed_order)

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete what the user has seen, but not an order about which another message was refused since."""
        for each in seen:
            values = {"user": each.user_id, "about": each.reference, "then": each.at}
            await self._connection.execute(DELETE, values)

    async def forget(self, before: datetime) -> int:
        """Delete what was refused before, and return how many orders that were."""
        return (await self._connection.execute(FORGET, {"before": before})).rowcount


def _missed_order(known: dict[str, Any]) -> MissedOrder:
    return MissedOrder(**known)
