"""Read and write users, their events and what is known of groups, and find the users to delete."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, exists, insert, or_, select, update

from bot.infra.db.columns import constant
from bot.infra.db.repository import Repository, insert_or_replace, once
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.tables import is_unsent, outbox
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import mark_handled
from bot.users.model import HANDLED_BY_QUESTION, RecordedEvent, User, UserEvent
from bot.users.tables import (
    HAS_BLOCKED,
    HAS_REQUESTED_DELETION,
    HAS_USERNAME,
    IS_LAST_MESSAGE,
    groups,
    user_events,
    users,
)

PROFILE = ("language_code", "username", "last_seen_at")


class UserRepository(Repository[User]):
    """Read and write users."""

    table = users

    async def get(self, user_id: int) -> User | None:
        """Return the user with this Telegram id, or None.

        Raises:
            RowUnreadable: the row is damaged.
        """
        one = once(lambda: select(users).where(users.c.id == bindparam("user")))
        return await self._get(one, {"user": user_id})

    async def get_if_readable(self, user_id: int) -> User | None:
        """Return the user. A missing or unreadable row gives None, and an unreadable one is recorded."""
        one = once(lambda: select(users).where(users.c.id == bindparam("user")))
        return await self._find_first(one, {"user": user_id})

    async def find_by_username(self, username: str) -> tuple[User, ...]:
        """Return the users who had this username when we last saw them, the last seen first."""
        named = select(users).where(HAS_USERNAME, users.c.username == username)
        return await self._find(named.order_by(users.c.last_seen_at.desc(), users.c.id))

    async def save(self, user: User) -> None:
        """Insert or replace a user, without the state of the chat."""
        if user.answered_update_id is not None:
            await mark_handled(self._tx, user.answered_update_id, HANDLED_BY_QUESTION)
        await self._replace(user)

    async def save_profile(self, user: User) -> None:
        """Insert a user, or replace only what Telegram says of them and when they were last seen."""
        await insert_or_replace(self._connection, users, self._seal(user), PROFILE)

    async def save_question(self, user_id: int, question: str | None) -> None:
        """Save the user's open question, and nothing else of the row."""
        await self._change(update(users).where(users.c.id == user_id).values(open_question=question))

    async def save_chat(self, chat: ChatState) -> None:
        """Save the state of a user's chat, if the user has a row."""
        buttons = {button: at.isoformat() for button, at in chat.answered_buttons.items()} or None
        values = {
            "question_message_id": chat.question_message_id,
            "question_can_go": chat.question_can_go,
            "answered_buttons": buttons,
        }
        await self._change(update(users).where(users.c.id == chat.user_id).values(values))

    def _to_row(self, value: User) -> dict[str, Any]:
        return {name: each for name, each in asdict(value).items() if name != "chat"}

    def _to_value(self, known: dict[str, Any]) -> User:
        answered_buttons = known.pop("answered_buttons") or {}
        chat = ChatState(
            user_id=known["id"],
            question_message_id=known.pop("question_message_id"),
            question_can_go=bool(known.pop("question_can_go")),
            answered_buttons={button: datetime.fromisoformat(at) for button, at in answered_buttons.items()},
        )
        return User(**known, chat=chat)


class UserEventRepository(Repository[RecordedEvent]):
    """Read and write the events of users."""

    table = user_events

    async def add(self, event: RecordedEvent) -> None:
        """Insert an event."""
        await self._connection.execute(insert(user_events).inline(), self._seal(event))

    async def find_by_order(self, user_id: int, reference: str, since: datetime) -> tuple[RecordedEvent, ...]:
        """Return the events about an order, and events since then about no order, oldest first."""
        about_none = (user_events.c.reference == "") & (user_events.c.at >= since)
        about = or_(user_events.c.reference == reference, about_none)
        found = select(user_events).where(user_events.c.user_id == user_id, about)
        return await self._find(found.order_by(user_events.c.at, user_events.c.id))

    def _to_value(self, known: dict[str, Any]) -> RecordedEvent:
        del known["id"]
        return RecordedEvent(**known)


async def record_user_event(
    tx: Transaction, user_id: int, event: UserEvent | str, now: datetime, order_reference: str = ""
) -> None:
    """Record an event of a user, possibly with an order. `event`: a `UserEvent`, or the result of `press_event`."""
    recorded = RecordedEvent(user_id=user_id, reference=order_reference, at=now, event=str(event))
    await UserEventRepository(tx).add(recorded)


class GroupRepository:
    """Read and write groups."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def get_locale(self, chat_id: int) -> str | None:
        """Return the language of a group, or None if its members chose none."""
        locale: str | None = await self._connection.scalar(select(groups.c.locale).where(groups.c.chat_id == chat_id))
        return locale

    async def save_locale(self, chat_id: int, locale: str) -> None:
        """Save the language of a group."""
        await insert_or_replace(self._connection, groups, {"chat_id": chat_id, "locale": locale})

    async def move(self, old: int, new: int) -> None:
        """Give a group its new id."""
        locale = await self.get_locale(old)
        if locale is not None:
            await self.save_locale(new, locale)
            await self._connection.execute(delete(groups).where(groups.c.chat_id == old))


IS_DELIVERED_OR_GIVEN_UP = outbox.c.status.in_(
    [constant(NotificationStatus.SENT), constant(NotificationStatus.UNDELIVERABLE)]
)


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
