"""What remains in the audit log when a user is deleted: what staff did, but not to whom or why."""

from datetime import datetime

from sqlalchemy import bindparam, update

from bot.infra.db.columns import blank_personal_columns
from bot.infra.db.transaction import Transaction
from bot.staff.tables import audit
from bot.users.user_data import NOBODY, UserData

BLANK = (
    update(audit)
    .where(audit.c.user_id == bindparam("user", type_=audit.c.user_id.type))
    .values(user_id=NOBODY, **blank_personal_columns(audit))
)


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Remove the user from the audit log."""
    await tx.connection.execute(BLANK, {"user": user_id})


USER_DATA = UserData(feature="staff", delete_user=delete_user)
