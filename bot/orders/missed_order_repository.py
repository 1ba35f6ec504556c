"""Read and write the orders and the links about which users missed a message."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, select

from bot.infra.db import encryption, upsert
from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.tables import IS_UNDELIVERABLE, outbox
from bot.orders.notification_kinds import OrderNotification
from bot.orders.tables import missed_orders
from bot.users.tables import HAS_BLOCKED, users

LINK: Final = "link:"
"""What `MissedOrder.reference` begins with if it is a link. Orders' references have no colon."""

USER = missed_orders.c.user_id == bindparam("user", type_=missed_orders.c.user_id.type)
OF_USER = select(missed_orders).where(USER).order_by(missed_orders.c.at, missed_orders.c.reference)
AT = missed_orders.c.at.type
DELETE = delete(missed_orders).where(
    USER,
    missed_orders.c.reference == bindparam("about"),
    missed_orders.c.at == bindparam("then", type_=AT),
)
# Removals that Telegram refused have an alarm.
COUNT_NOT_REMOVED = (
    select(func.count())
    .select_from(outbox.join(users, users.c.id == outbox.c.chat_id))
    .where(IS_UNDELIVERABLE, outbox.c.kind == constant(OrderNotification.TAKE_DOWN), outbox.c.mark == constant(""))
    .where(HAS_BLOCKED)
)
DELETE_BEFORE = delete(missed_orders).where(missed_orders.c.at < bindparam("before", type_=AT))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last rejected one.

    For an asker, `reference` is the id of the link that the order was made from, behind `LINK`.
    """

    user_id: int
    reference: str
    at: datetime

    @property
    def link(self) -> str | None:
        """The id of the asker's link, or None if the user's own order is meant."""
        return self.reference.removeprefix(LINK) if self.reference.startswith(LINK) else None


class MissedOrderRepository:
    """Read and write orders about which Telegram rejected a message, until their users have seen them."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def save(self, missed: MissedOrder) -> None:
        """Insert the missed order, or replace its time."""
        await upsert.insert_or_replace(self._connection, missed_orders, asdict(missed))

    async def of_user(self, user_id: int) -> tuple[MissedOrder, ...]:
        """Return what the user missed, oldest first."""
        found = (await self._connection.execute(OF_USER, {"user": user_id})).mappings()
        return encryption.read_rows(self._vault, missed_orders, found, _missed_order)

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete orders that the user has seen, except those about which another message was rejected since."""
        for each in seen:
            values = {"user": each.user_id, "about": each.reference, "then": each.at}
            await self._connection.execute(DELETE, values)

    async def count_not_removed(self) -> int:
        """Return how many invoices can't be removed because their users have blocked the bot."""
        return int((await self._connection.execute(COUNT_NOT_REMOVED)).scalar_one())

    async def delete_before(self, before: datetime) -> int:
        """Delete the missed orders from before that time, and return how many."""
        return (await self._connection.execute(DELETE_BEFORE, {"before": before})).rowcount


def _missed_order(known: dict[str, Any]) -> MissedOrder:
    return MissedOrder(**known)
