"""The deliveries to a user: deleted with the user, and pruned."""

from datetime import datetime, timedelta

from sqlalchemy import Integer, bindparam, delete, select, tuple_

from bot.broadcasts.tables import broadcasts, deliveries
from bot.infra.db.transaction import Transaction
from bot.users.user_data import UserData

KEEP_DELIVERIES = timedelta(days=30)
"""How long deliveries are kept after the end of a broadcast. The broadcast's report stays."""

DELETE = delete(deliveries).where(deliveries.c.user_id == bindparam("user", type_=deliveries.c.user_id.type))
OLD = (
    select(deliveries.c.broadcast_id, deliveries.c.user_id)
    .join(broadcasts, broadcasts.c.id == deliveries.c.broadcast_id)
    .where(broadcasts.c.ended_at < bindparam("before", type_=broadcasts.c.ended_at.type))
    .limit(bindparam("limit", type_=Integer()))
)
DELETE_OLD = delete(deliveries).where(tuple_(deliveries.c.broadcast_id, deliveries.c.user_id).in_(OLD))


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Delete the deliveries to this user."""
    await tx.connection.execute(DELETE, {"user": user_id})


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete up to `limit` deliveries of broadcasts that ended too long ago, and return how many they were."""
    before = now - min(KEEP_DELIVERIES, kept or KEEP_DELIVERIES)
    return (await tx.connection.execute(DELETE_OLD, {"before": before, "limit": limit})).rowcount


USER_DATA = UserData(feature="broadcasts", delete_user=delete_user, prune=prune)
