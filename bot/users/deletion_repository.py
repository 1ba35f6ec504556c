"""Delete a user with all rows of all features, and find the users to delete."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BindParameter, Delete, Update, bindparam, delete, exists, select, update

from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.tables import is_unsent, outbox
from bot.infra.telegram.inbound.tables import IS_FINISHED, inbox
from bot.users.tables import HAS_BLOCKED, HAS_REQUESTED_DELETION, IS_LAST_MESSAGE, user_events, users
from bot.users.user_data import NOBODY, UserData

USER: BindParameter[int] = bindparam("user", type_=users.c.id.type)
CHAT = bindparam("user", type_=outbox.c.chat_id.type)

REQUESTED = select(users.c.id).where(HAS_REQUESTED_DELETION).order_by(users.c.deletion_requested_at, users.c.id)
BLOCKED_BEFORE = bindparam("before", type_=users.c.blocked_at.type)
BLOCKED = select(users.c.id).where(HAS_BLOCKED, users.c.blocked_at < BLOCKED_BEFORE).order_by(users.c.blocked_at)
HAS_NOTIFICATIONS = select(exists().where(is_unsent(outbox), outbox.c.chat_id == CHAT))
DELETE_SHARED_ROWS: tuple[Delete | Update, ...] = (
    delete(outbox).where(outbox.c.chat_id == CHAT),
    delete(user_events).where(user_events.c.user_id == USER),
    # Keep the row: Telegram may deliver the update again, and it must not be handled twice.
    update(inbox).where(IS_FINISHED, inbox.c.chat_id == CHAT).values(chat_id=NOBODY),
)
DELETE_USER = delete(users).where(users.c.id == USER)
IS_DELIVERED_OR_GIVEN_UP = outbox.c.status.in_(
    [constant(NotificationStatus.SENT), constant(NotificationStatus.UNDELIVERABLE)]
)
HAS_LAST_MESSAGES = select(exists().where(IS_LAST_MESSAGE, IS_DELIVERED_OR_GIVEN_UP))
DELETE_LAST_MESSAGES = delete(outbox).where(IS_LAST_MESSAGE, IS_DELIVERED_OR_GIVEN_UP)


async def delete_user(tx: Transaction, user_id: int, now: datetime, features: Sequence[UserData]) -> bool:
    """Delete all that is stored about a user, and return whether the user existed. The user must have nothing open."""
    for feature in features:
        await feature.delete_user(tx, user_id, now)
    for statement in DELETE_SHARED_ROWS:
        await tx.connection.execute(statement, {"user": user_id})
    return (await tx.connection.execute(DELETE_USER, {"user": user_id})).rowcount == 1


class DeletionRepository:
    """Read the users to delete, and the notifications that must reach them first."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def find_requested(self) -> tuple[int, ...]:
        """Return the users who asked for deletion, the earliest request first."""
        return tuple((await self._connection.execute(REQUESTED)).scalars())

    async def find_blocked(self, blocked_before: datetime) -> tuple[int, ...]:
        """Return the users who blocked the bot before then, and haven't come back."""
        return tuple((await self._connection.execute(BLOCKED, {"before": blocked_before})).scalars())

    async def has_notifications(self, chat_id: int) -> bool:
        """Return whether a notification for this chat is unsent, or is being sent."""
        return bool((await self._connection.execute(HAS_NOTIFICATIONS, {"user": chat_id})).scalar_one())

    async def has_last_messages(self) -> bool:
        """Return whether there are last messages that were sent or given up."""
        return bool((await self._connection.execute(HAS_LAST_MESSAGES)).scalar_one())

    async def delete_last_messages(self) -> int:
        """Delete last messages that were sent or given up, and return how many."""
        return (await self._connection.execute(DELETE_LAST_MESSAGES)).rowcount
