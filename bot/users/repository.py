"""Read and write users and their events."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, Select, bindparam, delete, insert, or_, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import MARK_HANDLED
from bot.users.model import HANDLED_BY_QUESTION, RecordedEvent, User, UserEvent
from bot.users.tables import user_events, users

ONE = select(users).where(users.c.id == bindparam("id"))
SAVE_CHAT = (
    update(users)
    .where(users.c.id == bindparam("user"))
    .values(question_message_id=bindparam("question"), answered_buttons=bindparam("buttons"))
)
SAVE_QUESTION = update(users).where(users.c.id == bindparam("user")).values(open_question=bindparam("question"))

EVENT = select(*(user_events.c[name] for name in ("id", "user_id", "reference", "at", "event")))
EVENT_AT = user_events.c.at.type
OF_ORDER = (
    EVENT.where(
        user_events.c.user_id == bindparam("user"),
        or_(
            user_events.c.reference == bindparam("about"),
            (user_events.c.reference == "") & (user_events.c.at >= bindparam("since", type_=EVENT_AT)),
        ),
    )
).order_by(user_events.c.at, user_events.c.id)
OF_USER = (
    EVENT.where(user_events.c.user_id == bindparam("user"))
    .order_by(user_events.c.at.desc(), user_events.c.id.desc())
    .limit(bindparam("limit", type_=Integer()))
)
DELETE_EVENTS = delete(user_events).where(user_events.c.at < bindparam("before", type_=EVENT_AT))


class UserRepository:
    """Read and write users."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, user_id: int) -> User | None:
        """Return the user with this Telegram id, or None.

        Raises:
            RowUnreadable: the row is damaged.
        """
        row = (await self._connection.execute(ONE, {"id": user_id})).mappings().first()
        return encryption.read_row(self._vault, users, dict(row), to_user) if row else None

    async def get_if_readable(self, user_id: int) -> User | None:
        """Return the user. A missing or unreadable row gives None, and an unreadable one is recorded."""
        row = (await self._connection.execute(ONE, {"id": user_id})).mappings().first()
        return encryption.read_row_or_none(self._vault, users, dict(row), to_user) if row else None

    async def save(self, user: User) -> None:
        """Insert or replace a user, without the state of the chat."""
        if user.answered_update_id is not None:
            await self._connection.execute(MARK_HANDLED, {"taken": user.answered_update_id, "by": HANDLED_BY_QUESTION})
        row = asdict(user)
        del row["chat"]
        await upsert.insert_or_replace(self._connection, users, encryption.seal_row(self._vault, users, row))

    async def save_question(self, user_id: int, question: str | None) -> None:
        """Save the user's open question, and nothing else of the row."""
        await self._connection.execute(SAVE_QUESTION, {"user": user_id, "question": question})

    async def save_chats(self, chats: Sequence[ChatState]) -> None:
        """Save the state of these users' chats. Users without a row are left out."""
        rows = [
            {
                "user": chat.user_id,
                "question": chat.question_message_id,
                "buttons": {button: at.isoformat() for button, at in chat.answered_buttons.items()} or None,
            }
            for chat in chats
        ]
        await self._connection.execute(SAVE_CHAT, rows)


class UserEventRepository:
    """Read and write the events of users."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, event: RecordedEvent) -> None:
        """Insert an event."""
        await self._connection.execute(insert(user_events).inline(), asdict(event))

    async def find_by_order(self, user_id: int, reference: str, since: datetime) -> tuple[RecordedEvent, ...]:
        """Return the events about an order, and events since then about no order, oldest first."""
        return await self._all(OF_ORDER, {"user": user_id, "about": reference, "since": since})

    async def find_by_user(self, user_id: int, limit: int = 50) -> tuple[RecordedEvent, ...]:
        """Return the events of a user, newest first."""
        return await self._all(OF_USER, {"user": user_id, "limit": limit})

    async def delete_before(self, before: datetime) -> int:
        """Delete older events, and return how many."""
        return (await self._connection.execute(DELETE_EVENTS, {"before": before})).rowcount

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[RecordedEvent, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return encryption.read_rows(self._vault, user_events, found, _event)


async def save_chats(tx: Transaction, chats: Sequence[ChatState]) -> None:
    """Save the state of chats that updates have changed."""
    await UserRepository(tx).save_chats(chats)


async def record_user_event(
    tx: Transaction, user_id: int, event: UserEvent | str, now: datetime, order_reference: str = ""
) -> None:
    """Record an event of a user, possibly with an order. `event`: a `UserEvent`, or the result of `press_event`."""
    recorded = RecordedEvent(user_id=user_id, reference=order_reference, at=now, event=str(event))
    await UserEventRepository(tx).add(recorded)


def to_user(known: dict[str, Any]) -> User:
    """Return the user of a decrypted row."""
    question_message_id, answered_buttons = known.pop("question_message_id"), known.pop("answered_buttons") or {}
    chat = ChatState(
        user_id=known["id"],
        question_message_id=question_message_id,
        answered_buttons={button: datetime.fromisoformat(at) for button, at in answered_buttons.items()},
    )
    return User(**known, chat=chat)


def _event(known: dict[str, Any]) -> RecordedEvent:
    return RecordedEvent(**{name: value for name, value in known.items() if name != "id"})
