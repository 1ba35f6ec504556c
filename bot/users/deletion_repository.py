"""Delete a user with all rows of all features, and find the users to delete."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, exists, select, update

from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.tables import is_unsent, outbox
from bot.infra.telegram.inbound.tables import IS_FINISHED, inbox
from bot.users.tables import HAS_BLOCKED, HAS_REQUESTED_DELETION, IS_LAST_MESSAGE, user_events, users
from bot.users.user_data import NOBODY, UserData

IS_DELIVERED_OR_GIVEN_UP = outbox.c.status.in_(
    [constant(NotificationStatus.SENT), constant(NotificationStatus.UNDELIVERABLE)]
)


async def delete_user(tx: Transaction, user_id: int, now: datetime, features: Sequence[UserData]) -> bool:
    """Delete all that is stored about a user, and return whether the user existed. The user must have nothing open."""
    for feature in features:
        await feature.delete_user(tx, user_id, now)
    await tx.connection.execute(delete(outbox).where(outbox.c.chat_id == user_id))
    await tx.connection.execute(delete(user_events).where(user_events.c.user_id == user_id))
    # Keep the row: Telegram may deliver the update again, and it must not be handled twice.
    finished = update(inbox).where(IS_FINISHED, inbox.c.chat_id == user_id)
    await tx.connection.execute(finished.values(chat_id=NOBODY))
    return (await tx.connection.execute(delete(users).where(users.c.id == user_id))).rowcount == 1


class DeletionRepository:
    """Read the users to delete, and the notifications that must reach them first."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def find_requested(self) -> tuple[int, ...]:
        """Return the users who asked for deletion, the earliest request first."""
        requested = select(users.c.id).where(HAS_REQUESTED_DELETION)
        first = requested.order_by(users.c.deletion_requested_at, users.c.id)
        return tuple((await self._connection.execute(first)).scalars())

    async def find_blocked(self, blocked_before: datetime) -> tuple[int, ...]:
        """Return the users who blocked the bot before then, and haven't come back."""
        blocked = select(users.c.id).where(HAS_BLOCKED, users.c.blocked_at < blocked_before)
        return tuple((await self._connection.execute(blocked.order_by(users.c.blocked_at))).scalars())

    async def has_notifications(self, chat_id: int) -> bool:
        """Return whether a notification for this chat is unsent, or is being sent."""
        return bool(
            await self._connection.scalar(select(exists().where(is_unsent(outbox), outbox.c.chat_id == chat_id)))
        )

    async def has_last_messages(self) -> bool:
        """Return whether there are last messages that were sent or given up."""
        return bool(await self._connection.scalar(select(exists().where(IS_LAST_MESSAGE, IS_DELIVERED_OR_GIVEN_UP))))

    async def delete_last_messages(self) -> int:
        """Delete last messages that were sent or given up, and return how many."""
        ended = delete(outbox).where(IS_LAST_MESSAGE, IS_DELIVERED_OR_GIVEN_UP)
        return (await self._connection.execute(ended)).rowcount
