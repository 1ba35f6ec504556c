"""Notifications: each saved once, sent in order within a chat, and never lost between two attempts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    bindparam,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from bot.infra.db import encryption as sealing
from bot.infra.db import upsert as writing
from bot.infra.db.columns import MALFORMED, constant
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Backlog, Notification, NotificationStatus, Queue, StoredNotification
from bot.infra.outbox.payload import pack
from bot.infra.outbox.tables import IS_GIVEN_UP, IS_WAITING, is_unsent, outbox

THIS = outbox.c.id == bindparam("notification")
IS_UNSENT = is_unsent(outbox)
IS_SENDING = outbox.c.status == constant(NotificationStatus.SENDING)
NOW = bindparam("now", type_=outbox.c.due_at.type)

_same_chat = outbox.alias("same_chat")


def _is_in(queue: Queue, notification: FromClause) -> ColumnElement[bool]:
    return notification.c.queue == constant(queue)


def _heads(queue: Queue) -> Select[Any]:
    """The first of each chat in one of the queues.

    Read from the index in the order of falling due, so that a hundred heads cost a hundred looks however many wait.
    A scalar subquery, because PostgreSQL has no way to turn that into a join over everything.
    """
    its, same = (_is_in(queue, rows) for rows in (outbox, _same_chat))
    first_of_chat = (
        select(_same_chat.c.id)
        .where(is_unsent(_same_chat), _same_chat.c.chat_id == outbox.c.chat_id, same)
        .order_by(_same_chat.c.id)
        .limit(1)
        .scalar_subquery()
    )
    heads = select(outbox).where(IS_WAITING, its, outbox.c.id == first_of_chat)
    if queue is Queue.EXTRA:
        # A receipt comes after the message that the rupiah were sent: what one subject says keeps its order.
        heads = heads.where(
            ~exists().where(
                is_unsent(_same_chat),
                _same_chat.c.chat_id == outbox.c.chat_id,
                _is_in(Queue.MONEY, _same_chat),
                _same_chat.c.subject == outbox.c.subject,
                _same_chat.c.id < outbox.c.id,
            )
        )
    return heads.order_by(outbox.c.due_at, outbox.c.id)


IN_QUEUE = {queue: _heads(queue) for queue in Queue}
HEADS = {queue: all_.where(outbox.c.due_at <= NOW).limit(bindparam("limit")) for queue, all_ in IN_QUEUE.items()}
DUE_AFTER = select(outbox).where(IS_WAITING, outbox.c.due_at > NOW).order_by(outbox.c.due_at.desc())
DUE_AFTER = DUE_AFTER.limit(bindparam("limit"))
NEXT_DUE = [all_.with_only_columns(outbox.c.due_at).limit(1) for all_ in IN_QUEUE.values()]
COUNT_DUE = (
    select(func.count())
    .select_from(outbox)
    .where(IS_UNSENT, outbox.c.due_at <= NOW, outbox.c.subject.startswith(bindparam("start")))
)
# An attempt that failed moves `due_at` on: from then on the notification has waited since it was created.
WAITS_SINCE = case((outbox.c.attempts == 0, outbox.c.due_at), else_=outbox.c.created_at)
OVERDUE = bindparam("before", type_=outbox.c.due_at.type)
# Notifications about the rate go at the pace of a broadcast: however many they are, that is no backlog.
IS_NOT_OF_RATE = outbox.c.queue != constant(Queue.RATE)
BACKLOG = select(func.count(), func.min(WAITS_SINCE)).where(IS_UNSENT, IS_NOT_OF_RATE, WAITS_SINCE <= OVERDUE)
LEFT_SENDING = select(outbox).where(IS_UNSENT, IS_SENDING)

START = (
    update(outbox)
    .where(THIS, IS_WAITING)
    .values(status=NotificationStatus.SENDING.value, attempts=outbox.c.attempts + 1)
)
SENT = update(outbox).where(THIS)
RETRY = (
    update(outbox)
    .where(THIS, IS_SENDING)
    .values(
        status=NotificationStatus.WAITING.value,
        maybe_sent=or_(outbox.c.maybe_sent, bindparam("maybe", type_=outbox.c.maybe_sent.type)),
    )
)
GIVE_UP = update(outbox).where(IS_UNSENT)
GIVE_UP_ONE = GIVE_UP.where(THIS)
GIVE_UP_CHAT = GIVE_UP.where(outbox.c.chat_id == bindparam("chat"))

MOVE_CHAT = (
    update(outbox)
    .where(IS_UNSENT, outbox.c.chat_id == bindparam("old", type_=outbox.c.chat_id.type))
    .values(chat_id=bindparam("new", type_=outbox.c.chat_id.type))
)

UNSENT_IN = select(outbox).where(IS_UNSENT, outbox.c.chat_id == bindparam("chat")).order_by(outbox.c.id)
OF_SUBJECT = select(outbox).where(outbox.c.subject == bindparam("about")).order_by(outbox.c.id)

THIS_NOTIFICATION = (
    outbox.c.subject == bindparam("about"),
    outbox.c.kind == bindparam("of_kind"),
    outbox.c.mark == constant(""),
    outbox.c.chat_id == bindparam("chat"),
)
MESSAGE_OF = select(outbox.c.message_id).where(*THIS_NOTIFICATION)
REPLACE_MESSAGE = update(outbox).where(*THIS_NOTIFICATION)

BEFORE = bindparam("before", type_=outbox.c.sent_at.type)
DELETE_SENT = delete(outbox).where(outbox.c.sent_at < BEFORE)
DELETE_GIVEN_UP = delete(outbox).where(IS_GIVEN_UP, outbox.c.created_at < BEFORE)


class OutboxRepository:
    """Read and write notifications, which keep their order within a chat."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, notifications: Sequence[Notification[object]]) -> int:
        """Save those that are new by (subject, kind, mark, chat). Return how many were."""
        rows = [_row(notification) for notification in notifications]
        return len(await writing.add_all(self._connection, outbox, rows, outbox.c.id))

    async def heads(
        self, now: datetime, limit: int = 100, queue: Queue = Queue.MONEY
    ) -> tuple[StoredNotification, ...]:
        """For each chat its first row that is waiting or sending, if that one is waiting and due.

        No queue waits for another.
        """
        found = await self._connection.execute(HEADS[queue], {"now": now, "limit": limit})
        return sealing.readable(self._vault, outbox, found.mappings(), _notification)

    async def next_due(self) -> datetime | None:
        """When the next head falls due."""
        found = [(await self._connection.execute(each)).scalar_one_or_none() for each in NEXT_DUE]
        return min((due for due in found if due is not None and due is not MALFORMED), default=None)

    async def due_after(self, moment: datetime, limit: int = 100) -> tuple[StoredNotification, ...]:
        """Return waiting rows that fall due after `moment`, heads or not, the latest first."""
        found = await self._connection.execute(DUE_AFTER, {"now": moment, "limit": limit})
        return sealing.readable(self._vault, outbox, found.mappings(), _notification)

    async def count_due(self, subject_start: str, now: datetime) -> int:
        """How many rows of such subjects are due, or on their way."""
        return int((await self._connection.execute(COUNT_DUE, {"start": subject_start, "now": now})).scalar_one())

    async def backlog(self, before: datetime) -> Backlog:
        """Return what could have been sent before that time and still waits, without notifications about the rate."""
        count, since = (await self._connection.execute(BACKLOG, {"before": before})).one()
        return Backlog(count, None if since is MALFORMED else since)

    async def start(self, notification_id: int) -> bool:
        """Waiting -> sending, counting the attempt; False where somebody else has started it."""
        return (await self._connection.execute(START, {"notification": notification_id})).rowcount == 1

    async def record_sent(self, notification_id: int, message_id: int | None, at: datetime) -> None:
        """It arrived, as that message, whatever we had believed before."""
        arrived = {"status": NotificationStatus.SENT.value, "message_id": message_id, "sent_at": at, "failure": None}
        await self._connection.execute(SENT, {"notification": notification_id, **arrived})

    async def retry(self, notification_id: int, due_at: datetime, *, maybe_sent: bool) -> None:
        """Sending -> waiting until `due_at`; `maybe_sent` sticks once it is set."""
        await self._connection.execute(RETRY, {"notification": notification_id, "due_at": due_at, "maybe": maybe_sent})

    async def give_up(self, notification_id: int, failure: str) -> None:
        """It will never be told; `failure` says why, without personal data."""
        await self._connection.execute(GIVE_UP_ONE, {"notification": notification_id, **_given_up(failure)})

    async def give_up_chat(self, chat_id: int, failure: str) -> int:
        """Every row of a chat that can't be reached any more."""
        values = {"chat": chat_id, **_given_up(failure)}
        return (await self._connection.execute(GIVE_UP_CHAT, values)).rowcount

    async def move_chat(self, old: int, new: int) -> None:
        """Send what is still to be sent to a chat to its new id."""
        await self._connection.execute(MOVE_CHAT, {"old": old, "new": new})

    async def unsent_in(self, chat_id: int) -> tuple[StoredNotification, ...]:
        """What waits for its way to a chat, or is on it."""
        found = await self._connection.execute(UNSENT_IN, {"chat": chat_id})
        return sealing.readable(self._vault, outbox, found.mappings(), _notification)

    async def of_subject(self, subject: str) -> tuple[StoredNotification, ...]:
        """All that was or is to be told of a subject, whatever became of it, in its order."""
        found = await self._connection.execute(OF_SUBJECT, {"about": subject})
        return sealing.readable(self._vault, outbox, found.mappings(), _notification)

    async def left_sending(self) -> tuple[StoredNotification, ...]:
        """Rows that a crash has left in the middle of a request."""
        rows = (await self._connection.execute(LEFT_SENDING)).mappings()
        found = sealing.readable(self._vault, outbox, rows, _notification)
        # Sorted here: for an order by id SQLite would walk through all that was ever told.
        return tuple(sorted(found, key=lambda notification: notification.id))

    async def message_of(self, subject: str, kind: str, chat_id: int) -> int | None:
        """Return the id of the message that showed this notification, which has no mark."""
        key = {"about": subject, "of_kind": kind, "chat": chat_id}
        return (await self._connection.execute(MESSAGE_OF, key)).scalar_one_or_none()

    async def replace_message(self, subject: str, kind: str, chat_id: int, message_id: int | None) -> None:
        """A card that was sent anew has another message's id."""
        key = {"about": subject, "of_kind": kind, "chat": chat_id}
        await self._connection.execute(REPLACE_MESSAGE, {**key, "message_id": message_id})

    async def delete_sent(self, before: datetime, keep: Sequence[ColumnElement[bool]]) -> int:
        """Delete rows that were sent before or created and given up before; return how many.

        `keep` are the conditions of features on rows whose message ids they still need.
        """
        unless = [not_(condition) for condition in keep]
        forgotten = [
            await self._connection.execute(statement.where(*unless), {"before": before})
            for statement in (DELETE_SENT, DELETE_GIVEN_UP)
        ]
        return sum(result.rowcount for result in forgotten)


def _row(notification: Notification[object]) -> dict[str, object]:
    return {
        "chat_id": notification.chat_id,
        "subject": notification.subject,
        "kind": str(notification.kind),
        "mark": notification.mark,
        "queue": notification.queue.value,
        "payload": pack(notification.payload),
        "status": notification.status.value,
        "attempts": notification.attempts,
        "maybe_sent": notification.maybe_sent,
        "due_at": notification.due_at,
        "created_at": notification.created_at,
        "message_id": notification.message_id,
        "sent_at": notification.sent_at,
        "failure": notification.failure,
    }


def _notification(row: Mapping[Any, Any]) -> StoredNotification:
    return Notification(**{**row, "queue": Queue(row["queue"]), "status": NotificationStatus(row["status"])})


def _given_up(failure: str) -> dict[str, object]:
    return {"status": NotificationStatus.UNDELIVERABLE.value, "failure": failure}
