"""Read and write the orders about which users missed a message."""

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
DELETE_BEFORE = delete(missed_orders).where(missed_orders.c.at < bindparam("before", type_=AT))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last rejected one."""

    user_id: int
    reference: str
    at: datetime


class MissedOrderRepository:
    """Read and write orders about which Telegram rejected a message, until their users have seen them."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def save(self, missed: MissedOrder) -> None:
        """Insert the missed order, or replace its time."""
        await upsert.insert_or_replace(self._connection, missed_orders, asdict(missed))

    async def of_user(self, user_id: int) -> tuple[MissedOrder, ...]:
        """Return the user's missed orders, oldest first."""
        found = (await self._connection.execute(OF_USER, {"user": user_id})).mappings()
        return encryption.read_rows(self._vault, missed_orders, found, _missed_order)

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete orders that the user has seen, except those about which another message was rejected since."""
        for each in seen:
            values = {"user": each.user_id, "about": each.reference, "then": each.at}
            await self._connection.execute(DELETE, values)

    async def delete_before(self, before: datetime) -> int:
        """Delete the missed orders from before that time, and return how many."""
        return (await self._connection.execute(DELETE_BEFORE, {"before": before})).rowcount


def _missed_order(known: dict[str, Any]) -> MissedOrder:
    return MissedOrder(**known)
