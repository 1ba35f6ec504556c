"""What remains in the audit log when a user is deleted: what staff did, but not to whom or why."""

from datetime import datetime

from sqlalchemy import update

from bot.infra.db.columns import blank_personal_columns
from bot.infra.db.transaction import Transaction
from bot.staff.tables import audit
from bot.users.user_data import NOBODY, UserData


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Remove the user from the audit log."""
    blank = {"user_id": NOBODY, **blank_personal_columns(audit)}
    await tx.connection.execute(update(audit).where(audit.c.user_id == user_id).values(blank))


USER_DATA = UserData(feature="staff", delete_user=delete_user)
