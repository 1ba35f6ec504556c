"""Reads and writes of notifications. Each is saved once, and their order within a chat is kept."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
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

from bot.infra.db import encryption, upsert
from bot.infra.db.columns import MALFORMED, Json, constant, is_in_json
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import held_by_others
from bot.infra.outbox.model import (
    BACKLOG_QUEUES,
    MAX_TRIES,
    Backlog,
    Notification,
    NotificationStatus,
    Queue,
    SentMessage,
    StoredNotification,
)
from bot.infra.outbox.payload import pack
from bot.infra.outbox.tables import IS_SENDING, IS_UNDELIVERABLE, IS_WAITING, is_unsent, outbox

THIS = outbox.c.id == bindparam("notification")
IS_UNSENT = is_unsent(outbox)
NOW = bindparam("now", type_=outbox.c.due_at.type)
LEFT = bindparam("left", type_=Json())

_same_chat = outbox.alias("same_chat")

IS_EARLIER_IN_MONEY = (
    is_unsent(_same_chat),
    _same_chat.c.chat_id == outbox.c.chat_id,
    _same_chat.c.queue == constant(Queue.URGENT),
    _same_chat.c.subject == outbox.c.subject,
    _same_chat.c.id < outbox.c.id,
)
KEEPS_ORDER_OF_SUBJECT = ~exists().where(*IS_EARLIER_IN_MONEY)
"""No earlier notification about the same subject is unsent in `Queue.URGENT`."""


def _build_heads(queue: Queue) -> Select[Any]:
    """Return the query for the heads: the first unsent notification of each chat in one queue.

    In `Queue.EDITS` it is the first of each subject, so that no order waits for the removal of another's invoice.

    Chats that another process holds are left out. The parameter `me` is this process. Rates are sent in bulk by the
    leader, whoever holds the chat. What this process leaves to others (`left`) keeps none behind it waiting.

    It reads the index in the order of `due_at`, so a hundred heads cost a hundred lookups, however many rows wait.
    It is a scalar subquery, because PostgreSQL can't turn that into a join over all rows.
    """
    in_queue, in_same_queue = (rows.c.queue == constant(queue) for rows in (outbox, _same_chat))
    is_not_left = ~is_in_json(_same_chat.c.id, LEFT)
    is_alike = [is_unsent(_same_chat), _same_chat.c.chat_id == outbox.c.chat_id, in_same_queue, is_not_left]
    if queue is Queue.EDITS:
        is_alike.append(_same_chat.c.subject == outbox.c.subject)
    first_of_chat = select(_same_chat.c.id).where(*is_alike).order_by(_same_chat.c.id).limit(1).scalar_subquery()
    heads = select(outbox).where(IS_WAITING, in_queue, outbox.c.id == first_of_chat)
    if queue is not Queue.BULK:
        heads = heads.where(~held_by_others(outbox.c.chat_id))
    if queue in MAX_TRIES:
        # Notifications of one subject keep their order: a receipt comes after the message that the order was sent, and
        # an invoice is removed after it was sent.
        heads = heads.where(~exists().where(*IS_EARLIER_IN_MONEY, is_not_left))
    return heads.order_by(outbox.c.due_at, outbox.c.id)


IN_QUEUE = {queue: _build_heads(queue) for queue in Queue}
HEADS = {queue: heads.where(outbox.c.due_at <= NOW).limit(bindparam("limit")) for queue, heads in IN_QUEUE.items()}
DUE_AFTER = select(outbox).where(IS_WAITING, outbox.c.due_at > NOW).order_by(outbox.c.due_at.desc())
DUE_AFTER = DUE_AFTER.limit(bindparam("limit"))
NEXT_DUE, NEXT_DUE_AFTER = (
    select(
        *(
            heads.with_only_columns(outbox.c.due_at).where(*after).limit(1).scalar_subquery().label(queue.value)
            for queue, heads in IN_QUEUE.items()
        )
    )
    for after in ((), (outbox.c.due_at > NOW,))
)
COUNT_DUE = (
    select(func.count())
    .select_from(outbox)
    .where(IS_UNSENT, outbox.c.due_at <= NOW, outbox.c.subject.startswith(bindparam("start")))
)
# A failed attempt moves `due_at`. From then on, the notification counts as waiting since it was created.
WAITING_SINCE = case((outbox.c.attempts == 0, outbox.c.due_at), else_=outbox.c.created_at)
OVERDUE = bindparam("before", type_=outbox.c.due_at.type)
BACKLOGS = (
    select(outbox.c.queue, func.count(), func.min(WAITING_SINCE))
    .where(IS_UNSENT, WAITING_SINCE <= OVERDUE)
    .group_by(outbox.c.queue)
)
INTERRUPTED = select(outbox).where(
    IS_SENDING,
    outbox.c.queue.in_(bindparam("queues", expanding=True)),
    or_(outbox.c.queue == constant(Queue.BULK), ~held_by_others(outbox.c.chat_id)),
)

MARK_SENDING = (
    update(outbox)
    .where(outbox.c.id.in_(bindparam("notifications", expanding=True)), IS_WAITING)
    .values(status=NotificationStatus.SENDING.value, attempts=outbox.c.attempts + 1)
    .returning(outbox.c.id)
)
RECORD_SENT = update(outbox).where(THIS)
POSTPONE = (
    update(outbox)
    .where(THIS, IS_SENDING)
    .values(
        status=NotificationStatus.WAITING.value,
        maybe_sent=or_(outbox.c.maybe_sent, bindparam("maybe", type_=outbox.c.maybe_sent.type)),
    )
)
# The attempt doesn't count, because nothing was tried.
LEAVE = (
    update(outbox)
    .where(THIS, IS_SENDING)
    .values(status=NotificationStatus.WAITING.value, attempts=outbox.c.attempts - 1)
)
GIVE_UP = update(outbox).where(IS_UNSENT)
GIVE_UP_ONE = GIVE_UP.where(THIS)
GIVE_UP_CHAT = GIVE_UP.where(outbox.c.chat_id == bindparam("chat"))

MOVE_CHAT = (
    update(outbox)
    .where(IS_UNSENT, outbox.c.chat_id == bindparam("old", type_=outbox.c.chat_id.type))
    .values(chat_id=bindparam("new", type_=outbox.c.chat_id.type))
)

UNSENT = select(outbox).where(IS_UNSENT, outbox.c.chat_id == bindparam("chat")).order_by(outbox.c.id)
ABOUT = outbox.c.subject == bindparam("about")
FIRST = {
    Queue.URGENT: UNSENT.where(outbox.c.queue == constant(Queue.URGENT)).limit(1),
    Queue.EDITS: UNSENT.where(outbox.c.queue == constant(Queue.EDITS), ABOUT, KEEPS_ORDER_OF_SUBJECT).limit(1),
}
"""The first notification of a chat in each queue in which one follows another at once."""

BY_SUBJECT = select(outbox).where(outbox.c.subject == bindparam("about")).order_by(outbox.c.id)

OF_KINDS = (
    outbox.c.subject == bindparam("about"),
    outbox.c.kind.in_(bindparam("kinds", expanding=True)),
    outbox.c.chat_id == bindparam("chat"),
)
MESSAGES = (
    select(outbox.c.id, outbox.c.kind, outbox.c.message_id)
    .where(*OF_KINDS, outbox.c.message_id.is_not(None))
    .order_by(outbox.c.id)
)
QUEUE_AGAIN = update(outbox).where(*OF_KINDS, IS_UNDELIVERABLE)
ANY_OF_KINDS = select(outbox.c.id).where(*OF_KINDS).limit(1)

BEFORE = bindparam("before", type_=outbox.c.sent_at.type)
DELETE_SENT = delete(outbox).where(outbox.c.sent_at < BEFORE)
DELETE_UNDELIVERABLE = delete(outbox).where(IS_UNDELIVERABLE, outbox.c.created_at < BEFORE)


class OutboxRepository:
    """Reads and writes notifications in one transaction. `owner` is the random id of this process."""

    def __init__(self, tx: Transaction, owner: str = "") -> None:
        self._owner = owner
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, notifications: Sequence[Notification[object]]) -> int:
        """Save notifications that are new by subject, kind, mark and chat. Return how many were new."""
        rows = [_row(notification) for notification in notifications]
        return len(await upsert.insert_all_new(self._connection, outbox, rows, outbox.c.id))

    async def find_heads(
        self, now: datetime, limit: int = 100, queue: Queue = Queue.URGENT, left: Collection[int] = ()
    ) -> tuple[StoredNotification, ...]:
        """Return the first unsent row of each chat, if it is waiting and due. Skip the rows in `left`.

        No queue waits for another.
        """
        values = {"now": now, "limit": limit, "me": self._owner, "left": sorted(left)}
        found = await self._connection.execute(HEADS[queue], values)
        return encryption.read_rows(self._vault, outbox, found.mappings(), _notification)

    async def find_next_due(self) -> datetime | None:
        """Return when the next head is due."""
        return min((due for due in (await self.find_next_dues()).values() if due is not MALFORMED), default=None)

    async def find_next_dues(self, left: Collection[int] = (), after: datetime | None = None) -> Mapping[Queue, Any]:
        """Return when the next head of each queue is due, or `MALFORMED`. Queues without a head are left out.

        With `after`, heads that are due until then are left out.
        """
        values = {"me": self._owner, "left": sorted(left)}
        statement = NEXT_DUE if after is None else NEXT_DUE_AFTER
        row = (await self._connection.execute(statement, values if after is None else {**values, "now": after})).one()
        return {queue: due for queue, due in zip(IN_QUEUE, row, strict=True) if due is not None}

    async def find_due_after(self, moment: datetime, limit: int = 100) -> tuple[StoredNotification, ...]:
        """Return waiting rows that are due after `moment`, the latest first. Rows that aren't heads are included."""
        found = await self._connection.execute(DUE_AFTER, {"now": moment, "limit": limit})
        return encryption.read_rows(self._vault, outbox, found.mappings(), _notification)

    async def count_due(self, subject_start: str, now: datetime) -> int:
        """Return how many rows are due or being sent, of subjects that begin with `subject_start`."""
        return int((await self._connection.execute(COUNT_DUE, {"start": subject_start, "now": now})).scalar_one())

    async def get_backlog(self, before: datetime) -> Backlog:
        """Return how many notifications have waited since before that time. Those in bulk don't count."""
        backlogs = await self.get_backlogs(before)
        counted = [backlogs[queue] for queue in BACKLOG_QUEUES]
        oldest = min((each.since for each in counted if each.since is not None), default=None)
        return Backlog(sum(each.count for each in counted), oldest)

    async def get_backlogs(self, before: datetime) -> Mapping[Queue, Backlog]:
        """Return for each queue how many notifications have waited since before that time."""
        rows = await self._connection.execute(BACKLOGS, {"before": before})
        found = {name: Backlog(count, None if since is MALFORMED else since) for name, count, since in rows}
        return {queue: found.get(queue.value, Backlog()) for queue in Queue}

    async def mark_sending(self, *notification_ids: int) -> Collection[int]:
        """Mark waiting rows as being sent, and count the attempt. Return the ids of those that waited."""
        marked = await self._connection.execute(MARK_SENDING, {"notifications": notification_ids})
        return frozenset(marked.scalars())

    async def record_sent(self, notification_id: int, message_id: int | None, at: datetime) -> None:
        """Mark a row as sent, as this message, from any status."""
        arrived = {"status": NotificationStatus.SENT.value, "message_id": message_id, "sent_at": at, "failure": None}
        await self._connection.execute(RECORD_SENT, {"notification": notification_id, **arrived})

    async def postpone(self, notification_id: int, due_at: datetime, *, maybe_sent: bool) -> None:
        """Mark a row that is being sent as waiting until `due_at`. Once `maybe_sent` is set, it stays set."""
        await self._connection.execute(
            POSTPONE, {"notification": notification_id, "due_at": due_at, "maybe": maybe_sent}
        )

    async def leave(self, notification_id: int) -> None:
        """Mark a row that is being sent as waiting, as if it had never been begun."""
        await self._connection.execute(LEAVE, {"notification": notification_id})

    async def give_up(self, notification_id: int, failure: str) -> None:
        """Mark a row as undeliverable. `failure` says why, without personal data."""
        await self._connection.execute(GIVE_UP_ONE, {"notification": notification_id, **_undeliverable(failure)})

    async def give_up_chat(self, chat_id: int, failure: str) -> int:
        """Mark all unsent rows of a chat as undeliverable. Return how many."""
        values = {"chat": chat_id, **_undeliverable(failure)}
        return (await self._connection.execute(GIVE_UP_CHAT, values)).rowcount

    async def queue_again(self, subject: str, kinds: Collection[str], chat_id: int, at: datetime) -> None:
        """Mark notifications of these kinds that were given up as waiting, as if they had never been begun."""
        waiting = {"status": NotificationStatus.WAITING.value, "due_at": at, "attempts": 0, "failure": None}
        await self._connection.execute(QUEUE_AGAIN, {**_of_kinds(subject, kinds, chat_id), **waiting})

    async def move_chat(self, old: int, new: int) -> None:
        """Change the chat of all unsent rows to its new id."""
        await self._connection.execute(MOVE_CHAT, {"old": old, "new": new})

    async def find_unsent(self, chat_id: int) -> tuple[StoredNotification, ...]:
        """Return the rows of a chat that are waiting or being sent."""
        found = await self._connection.execute(UNSENT, {"chat": chat_id})
        return encryption.read_rows(self._vault, outbox, found.mappings(), _notification)

    async def find_first(self, chat_id: int, queue: Queue, subject: str) -> StoredNotification | None:
        """Return the first row of a chat in this queue that is waiting or being sent, if it can be read.

        In `Queue.EDITS`, return the first about this subject, if none must be sent before it.
        """
        found = await self._connection.execute(FIRST[queue], {"chat": chat_id, "about": subject})
        return next(iter(encryption.read_rows(self._vault, outbox, found.mappings(), _notification)), None)

    async def find_by_subject(self, subject: str) -> tuple[StoredNotification, ...]:
        """Return all rows of a subject in their order, in any status."""
        found = await self._connection.execute(BY_SUBJECT, {"about": subject})
        return encryption.read_rows(self._vault, outbox, found.mappings(), _notification)

    async def find_interrupted(self, queues: Collection[Queue] = tuple(Queue)) -> tuple[StoredNotification, ...]:
        """Return rows of some queues that are marked as being sent, without those of chats that another process holds.

        Those that this process isn't sending were interrupted during a request.
        """
        values = {"queues": [queue.value for queue in queues], "me": self._owner}
        rows = (await self._connection.execute(INTERRUPTED, values)).mappings()
        found = encryption.read_rows(self._vault, outbox, rows, _notification)
        # Sorted here, because for `ORDER BY id` SQLite would read all rows that were ever sent.
        return tuple(sorted(found, key=lambda notification: notification.id))

    async def find_messages(self, subject: str, kinds: Collection[str], chat_id: int) -> tuple[SentMessage, ...]:
        """Return the messages of all notifications of these kinds, with any mark, in the order of the notifications."""
        found = await self._connection.execute(MESSAGES, _of_kinds(subject, kinds, chat_id))
        return tuple(SentMessage(*row) for row in found)

    async def has_any(self, subject: str, kinds: Collection[str], chat_id: int) -> bool:
        """Return whether there is a notification of these kinds, in any status."""
        return (await self._connection.execute(ANY_OF_KINDS, _of_kinds(subject, kinds, chat_id))).first() is not None

    async def replace_message_id(self, notification_id: int, message_id: int | None) -> None:
        """Save another message as that of a notification, such as a status message that was sent again."""
        await self._connection.execute(RECORD_SENT, {"notification": notification_id, "message_id": message_id})

    async def delete_old(self, before: datetime, keep: Sequence[ColumnElement[bool]]) -> int:
        """Delete rows that were sent before then, and undeliverable ones created before then. Return how many.

        `keep` has conditions on rows whose message ids features still need.
        """
        results = [
            await self._connection.execute(statement, {"before": before})
            for statement in _build_delete_old(tuple(keep))
        ]
        return sum(result.rowcount for result in results)


@cache
def _build_delete_old(keep: tuple[ColumnElement[bool], ...]) -> tuple[Delete, ...]:
    """Return the same objects for the same conditions: each is compiled once."""
    unless = [not_(condition) for condition in keep]
    return DELETE_SENT.where(*unless), DELETE_UNDELIVERABLE.where(*unless)


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
    values = dict(row)
    enums = {"queue": Queue(values["queue"]), "status": NotificationStatus(values["status"])}
    return Notification(**{**values, **enums})


def _of_kinds(subject: str, kinds: Collection[str], chat_id: int) -> dict[str, object]:
    return {"about": subject, "kinds": [str(kind) for kind in kinds], "chat": chat_id}


def _undeliverable(failure: str) -> dict[str, object]:
    return {"status": NotificationStatus.UNDELIVERABLE.value, "failure": failure}
