"""The deliveries to a user: deleted with the user, and pruned."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select, tuple_

from bot.broadcasts.tables import broadcasts, deliveries
from bot.infra.db.transaction import Transaction
from bot.users.user_data import UserData

KEEP_DELIVERIES = timedelta(days=30)
"""How long deliveries are kept after the end of a broadcast. The broadcast's report stays."""


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Delete the deliveries to this user."""
    await tx.connection.execute(delete(deliveries).where(deliveries.c.user_id == user_id))


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete up to `limit` deliveries of broadcasts that ended too long ago, and return how many they were."""
    before = now - min(KEEP_DELIVERIES, kept or KEEP_DELIVERIES)
    old = (
        select(deliveries.c.broadcast_id, deliveries.c.user_id)
        .join(broadcasts, broadcasts.c.id == deliveries.c.broadcast_id)
        .where(broadcasts.c.ended_at < before)
        .limit(limit)
    )
    of_old = tuple_(deliveries.c.broadcast_id, deliveries.c.user_id).in_(old)
    return (await tx.connection.execute(delete(deliveries).where(of_old))).rowcount


USER_DATA = UserData(feature="broadcasts", delete_user=delete_user, prune=prune)
