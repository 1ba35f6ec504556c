"""Read and write the orders and the links about which users missed a message."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, func, select

from bot.infra.db.columns import constant
from bot.infra.db.repository import Repository
from bot.infra.db.statements import once
from bot.infra.outbox.tables import IS_UNDELIVERABLE, outbox
from bot.orders.notification_kinds import OrderNotification
from bot.orders.tables import missed_orders
from bot.users.tables import HAS_BLOCKED, users

LINK: Final = "link:"
"""What `MissedOrder.reference` begins with if it is a link. Orders' references have no colon."""


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


class MissedOrderRepository(Repository[MissedOrder]):
    """Read and write orders about which Telegram rejected a message, until their users have seen them."""

    table, kind = missed_orders, MissedOrder

    async def save(self, missed: MissedOrder) -> None:
        """Insert the missed order, or replace its time."""
        await self._replace(missed)

    async def of_user(self, user_id: int) -> tuple[MissedOrder, ...]:
        """Return what the user missed, oldest first."""
        of_user = once(
            lambda: (
                select(missed_orders)
                .where(missed_orders.c.user_id == bindparam("user"))
                .order_by(missed_orders.c.at, missed_orders.c.reference)
            )
        )
        return await self._find(of_user, {"user": user_id})

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete orders that the user has seen, except those about which another message was rejected since."""
        for each in seen:
            of_user = delete(missed_orders).where(missed_orders.c.user_id == each.user_id)
            await self._change(
                of_user.where(missed_orders.c.reference == each.reference, missed_orders.c.at == each.at)
            )

    async def count_not_removed(self) -> int:
        """Return how many invoices can't be removed because their users have blocked the bot."""
        # Removals that Telegram refused have an alarm.
        is_removal = (outbox.c.kind == constant(OrderNotification.TAKE_DOWN)) & (outbox.c.mark == constant(""))
        not_removed = (
            select(func.count())
            .select_from(outbox.join(users, users.c.id == outbox.c.chat_id))
            .where(IS_UNDELIVERABLE, is_removal, HAS_BLOCKED)
        )
        return (await self._connection.execute(not_removed)).scalar_one()

    async def delete_before(self, before: datetime) -> int:
        """Delete the missed orders from before that time, and return how many."""
        return await self._change(delete(missed_orders).where(missed_orders.c.at < before))
