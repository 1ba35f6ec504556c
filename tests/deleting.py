"""Delete a user with everything that the features store about them."""

from bot.core.clock import SystemClock
from bot.infra.db.transaction import Transaction
from bot.users import deletion
from tests.users.every_user_data import USER_DATA


async def delete_user(tx: Transaction, user_id: int) -> bool:
    return await deletion.delete_user(tx, user_id, SystemClock().now(), USER_DATA)
