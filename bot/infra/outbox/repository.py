"""Reads and writes of notifications. Each is saved once, and their order within a chat is kept.

Payloads are frozen dataclasses in the program, and JSON in the column.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    union_all,
    update,
)

from bot.infra.db.columns import MALFORMED, Json, constant, is_in_json
from bot.infra.db.repository import Repository, insert_all_new, once
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import held_by_others
from bot.infra.outbox.model import (
    BACKLOG_QUEUES,
    Backlog,
    Notification,
    NotificationKind,
    NotificationStatus,
    Queue,
    SentMessage,
    StoredNotification,
)
from bot.infra.outbox.tables import IS_SENDING, IS_UNDELIVERABLE, IS_WAITING, is_unsent, outbox

_ADAPTERS: dict[type[object], TypeAdapter[Any]] = {}
"""Payload type -> its pydantic adapter, created when it is first needed."""

_same_chat = outbox.alias("same_chat")

NOW = bindparam("now", type_=outbox.c.due_at.type)
IS_EARLIER_IN_MONEY = (
    is_unsent(_same_chat),
    _same_chat.c.chat_id == outbox.c.chat_id,
    _same_chat.c.queue == constant(Queue.URGENT),
    _same_chat.c.subject == outbox.c.subject,
    _same_chat.c.id < outbox.c.id,
)
IS_OF_KINDS = (
    outbox.c.subject == bindparam("about"),
    outbox.c.kind.in_(bindparam("kinds", expanding=True)),
    outbox.c.chat_id == bindparam("chat"),
)


@cache
def _is_head(queue: Queue) -> ColumnElement[bool]:
    """Return the condition that a notification is a head: the first unsent one of its chat in this queue.

    In `Queue.EDITS` it is the first of each subject, so that no order waits for the removal of another's invoice.

    Chats that another process holds are left out. The parameter `me` is this process. Rates are sent in bulk by the
    leader, whoever holds the chat. A row that is skipped keeps none behind it waiting.

    It reads the index in the order of `due_at`, so a hundred heads cost a hundred lookups, however many rows wait.
    It is a scalar subquery, because PostgreSQL can't turn that into a join over all rows.
    """
    in_queue, in_same_queue = (rows.c.queue == constant(queue) for rows in (outbox, _same_chat))
    is_not_skipped = ~is_in_json(_same_chat.c.id, bindparam("skipped", type_=Json()))
    is_alike = [is_unsent(_same_chat), _same_chat.c.chat_id == outbox.c.chat_id, in_same_queue, is_not_skipped]
    if queue is Queue.EDITS:
        is_alike.append(_same_chat.c.subject == outbox.c.subject)
    first_of_chat = select(_same_chat.c.id).where(*is_alike).order_by(_same_chat.c.id).limit(1).scalar_subquery()
    conditions = [in_queue, outbox.c.id == first_of_chat]
    if queue is not Queue.BULK:
        conditions.append(~held_by_others(outbox.c.chat_id))
    if queue in {Queue.EDITS, Queue.EXTRA}:
        # Notifications of one subject keep their order: a receipt comes after the message that the order was sent, and
        # an invoice is removed after it was sent.
        conditions.append(~exists().where(*IS_EARLIER_IN_MONEY, is_not_skipped))
    return and_(*conditions)


# These are the longest queries, and the most frequent ones. So each is built once.
def _build_heads(*queues: Queue) -> Select[Any]:
    return select(outbox).where(is_unsent(outbox), or_(*map(_is_head, queues)))


@cache
def _build_first_heads(*queues: Queue) -> Executable:
    """Return the query for the heads of each queue that are due first: one more than it can send at once."""
    heads = (_build_heads(queue).order_by(outbox.c.due_at, outbox.c.id).limit(queue.slots + 1) for queue in queues)
    return union_all(*(select(each.subquery()) for each in heads)).order_by("due_at", "id")


@cache
def _build_heads_in_chats(*queues: Queue) -> Executable:
    return _build_heads(*queues).where(outbox.c.chat_id.in_(bindparam("chats", expanding=True)))


def pack(payload: object) -> dict[str, Any]:
    """Return a payload as JSON values. A payload that was read from a row and not unpacked stays unchanged."""
    if isinstance(payload, Mapping):
        return dict(payload)
    packed: dict[str, Any] = _get_adapter(type(payload)).dump_python(payload, mode="json")
    return packed


class PayloadUnreadable(Exception):
    """The payload of a row doesn't match its kind. The text of this error doesn't quote it."""


def unpack(kind: NotificationKind, notification: StoredNotification) -> Notification[Any]:
    """Return the notification with its kind as `kind`, and its payload as the type of that kind.

    Raises:
        PayloadUnreadable: the payload doesn't match the kind.
    """
    try:
        payload = _get_adapter(kind.payload).validate_python(notification.payload, by_alias=False, by_name=True)
    except ValidationError:
        # `from None`: the cause quotes the payload.
        raise PayloadUnreadable from None
    return replace(notification, kind=kind, payload=payload)


def _get_adapter(payload: type[object]) -> TypeAdapter[Any]:
    if payload not in _ADAPTERS:
        _ADAPTERS[payload] = TypeAdapter(payload)
    return _ADAPTERS[payload]


class OutboxRepository(Repository[Notification[Any]]):
    """Reads and writes notifications in one transaction. `owner` is the random id of this process."""

    table = outbox

    def __init__(self, tx: Transaction, owner: str = "") -> None:
        super().__init__(tx)
        self._owner = owner

    async def add(self, notifications: Sequence[Notification[object]]) -> int:
        """Save notifications that are new by subject, kind, mark and chat. Return how many were new."""
        rows = [self._seal(notification) for notification in notifications]
        count = len(await insert_all_new(self._connection, outbox, rows, outbox.c.id))
        if count:
            self._tx.chats.update(each.chat_id for each in notifications if each.queue is not Queue.BULK)
        return count

    async def find_heads(
        self, queues: Collection[Queue] = (Queue.URGENT,), skipped: Collection[int] = ()
    ) -> tuple[StoredNotification, ...]:
        """Return the first unsent row of each chat in each queue, those that are due first, but not those in `skipped`.

        They are waiting, due or not, or being sent. A queue returns one more than it can send at once.
        """
        return await self._find(_build_first_heads(*queues), {"me": self._owner, "skipped": sorted(skipped)})

    async def find_heads_in(
        self, chat_ids: Collection[int], queues: Collection[Queue], skipped: Collection[int] = ()
    ) -> tuple[StoredNotification, ...]:
        """Return the heads of some chats, as `find_heads` does, in no order."""
        values = {"chats": list(chat_ids), "me": self._owner, "skipped": sorted(skipped)}
        return await self._find(_build_heads_in_chats(*queues), values)

    async def find_alike(self, notification: Notification[Any]) -> tuple[StoredNotification, ...]:
        """Return the later ones of its kind and subject that wait in the chat, but for no other message."""
        later = once(
            lambda: (
                select(outbox)
                .where(IS_WAITING, is_unsent(outbox), *IS_OF_KINDS, outbox.c.id > bindparam("after"))
                .where(~exists().where(*IS_EARLIER_IN_MONEY))
                .order_by(outbox.c.id)
            )
        )
        of_kind = _of_kinds(notification.subject, [notification.kind], notification.chat_id)
        return await self._find(later, {**of_kind, "after": notification.id})

    async def count_due(self, subject_start: str, now: datetime) -> int:
        """Return how many rows are due or being sent, of subjects that begin with `subject_start`."""
        return await self._count(is_unsent(outbox), outbox.c.due_at <= now, outbox.c.subject.startswith(subject_start))

    async def get_backlog(self, before: datetime) -> Backlog:
        """Return how many notifications have waited since before that time. Those in bulk don't count."""
        backlogs = await self.get_backlogs(before)
        counted = [backlogs[queue] for queue in BACKLOG_QUEUES]
        oldest = min((each.since for each in counted if each.since is not None), default=None)
        return Backlog(sum(each.count for each in counted), oldest)

    async def get_backlogs(self, before: datetime) -> Mapping[Queue, Backlog]:
        """Return for each queue how many notifications have waited since before that time."""
        # A failed attempt moves `due_at`. From then on, the notification counts as waiting since it was created.
        since = case((outbox.c.attempts == 0, outbox.c.due_at), else_=outbox.c.created_at)
        waiting = select(outbox.c.queue, func.count(), func.min(since)).where(is_unsent(outbox), since <= before)
        rows = await self._connection.execute(waiting.group_by(outbox.c.queue))
        found = {name: Backlog(count, None if since is MALFORMED else since) for name, count, since in rows}
        return {queue: found.get(queue.value, Backlog()) for queue in Queue}

    async def mark_sending(self, notification_ids: Collection[int], now: datetime) -> Mapping[int, bool]:
        """Mark unsent rows that are due as being sent, and count the attempt.

        Return the ids of those that are marked, and whether each may have been sent before. A row that is marked
        already was interrupted: call this only for rows that no task sends.
        """
        marked = once(
            lambda: (
                update(outbox)
                .where(outbox.c.id.in_(bindparam("ids", expanding=True)), is_unsent(outbox), outbox.c.due_at <= NOW)
                .values(
                    status=NotificationStatus.SENDING.value,
                    attempts=outbox.c.attempts + 1,
                    maybe_sent=or_(outbox.c.maybe_sent, IS_SENDING),
                )
                .returning(outbox.c.id, outbox.c.maybe_sent)
            )
        )
        rows = await self._connection.execute(marked, {"ids": list(notification_ids), "now": now})
        return {row.id: row.maybe_sent for row in rows}

    async def record_sent(self, message_ids: Mapping[int, int | None], at: datetime) -> None:
        """Mark rows as sent, from any status: the id of each, and that of its message."""
        arrived = {"status": NotificationStatus.SENT.value, "sent_at": at, "failure": None}
        one = once(lambda: update(outbox).where(outbox.c.id == bindparam("notification")))
        if message_ids:
            await self._connection.execute(
                one, [{"notification": key, "message_id": sent, **arrived} for key, sent in message_ids.items()]
            )

    async def postpone(self, notification_id: int, due_at: datetime, *, maybe_sent: bool) -> None:
        """Mark a row that is being sent as waiting until `due_at`. Once `maybe_sent` is set, it stays set."""
        sending = update(outbox).where(outbox.c.id == notification_id, IS_SENDING)
        if maybe_sent:
            sending = sending.values(maybe_sent=True)
        await self._change(sending.values(status=NotificationStatus.WAITING.value, due_at=due_at))

    async def leave(self, notification_id: int) -> None:
        """Mark a row that is being sent as waiting, as if it had never been begun."""
        sending = update(outbox).where(outbox.c.id == notification_id, IS_SENDING)
        # The attempt doesn't count, because nothing was tried.
        waiting = {"status": NotificationStatus.WAITING.value, "attempts": outbox.c.attempts - 1}
        await self._change(sending.values(waiting))

    async def give_up(self, notification_id: int, failure: str) -> int:
        """Mark a row as undeliverable. `failure` says why, without personal data. Return 0 if it isn't unsent."""
        return await self._give_up(outbox.c.id == notification_id, failure)

    async def give_up_chat(self, chat_id: int, failure: str) -> int:
        """Mark all unsent rows of a chat as undeliverable. Return how many."""
        return await self._give_up(outbox.c.chat_id == chat_id, failure)

    async def _give_up(self, condition: ColumnElement[bool], failure: str) -> int:
        given_up = {"status": NotificationStatus.UNDELIVERABLE.value, "failure": failure}
        return await self._change(update(outbox).where(is_unsent(outbox), condition), given_up)

    async def queue_again(self, subject: str, kinds: Collection[str], chat_id: int, at: datetime) -> None:
        """Mark notifications of these kinds that were given up as waiting, as if they had never been begun."""
        waiting = {"status": NotificationStatus.WAITING.value, "due_at": at, "attempts": 0, "failure": None}
        given_up = update(outbox).where(*IS_OF_KINDS, IS_UNDELIVERABLE)
        await self._change(given_up, {**_of_kinds(subject, kinds, chat_id), **waiting})
        self._tx.chats.add(chat_id)

    async def hasten(self, subject: str, chat_id: int, at: datetime) -> None:
        """Let the waiting notifications of a subject be due at this time, and no later."""
        later = update(outbox).where(outbox.c.subject == subject, outbox.c.chat_id == chat_id, IS_WAITING)
        await self._change(later.where(outbox.c.due_at > at).values(due_at=at))
        self._tx.chats.add(chat_id)

    async def move_chat(self, old: int, new: int) -> None:
        """Change the chat of all unsent rows to its new id."""
        await self._change(update(outbox).where(is_unsent(outbox), outbox.c.chat_id == old).values(chat_id=new))

    async def find_unsent(self, chat_id: int) -> tuple[StoredNotification, ...]:
        """Return the rows of a chat that are waiting or being sent."""
        unsent = select(outbox).where(is_unsent(outbox), outbox.c.chat_id == chat_id)
        return await self._find(unsent.order_by(outbox.c.id))

    async def find_by_subject(self, subject: str) -> tuple[StoredNotification, ...]:
        """Return all rows of a subject in their order, in any status."""
        return await self._find(select(outbox).where(outbox.c.subject == subject).order_by(outbox.c.id))

    async def find_messages(self, subject: str, kinds: Collection[str], chat_id: int) -> tuple[SentMessage, ...]:
        """Return the messages of all notifications of these kinds, with any mark, in the order of the notifications."""
        messages = once(
            lambda: (
                select(outbox.c.id, outbox.c.kind, outbox.c.message_id)
                .where(*IS_OF_KINDS, outbox.c.message_id.is_not(None))
                .order_by(outbox.c.id)
            )
        )
        found = await self._connection.execute(messages, _of_kinds(subject, kinds, chat_id))
        return tuple(SentMessage(*row) for row in found)

    async def has_any(self, subject: str, kinds: Collection[str], chat_id: int) -> bool:
        """Return whether there is a notification of these kinds, in any status."""
        of_kinds = once(lambda: select(outbox.c.id).where(*IS_OF_KINDS).limit(1))
        return await self._connection.scalar(of_kinds, _of_kinds(subject, kinds, chat_id)) is not None

    async def replace_message_id(self, notification_id: int, message_id: int | None) -> None:
        """Save another message as that of a notification, such as a status message that was sent again."""
        await self._change(update(outbox).where(outbox.c.id == notification_id).values(message_id=message_id))

    async def delete_old(self, before: datetime, keep: Sequence[ColumnElement[bool]]) -> int:
        """Delete rows that were sent before then, and undeliverable ones created before then. Return how many.

        `keep` has conditions on rows whose message ids features still need.
        """
        unless = [not_(condition) for condition in keep]
        sent = await self._change(delete(outbox).where(outbox.c.sent_at < before, *unless))
        given_up = delete(outbox).where(IS_UNDELIVERABLE, outbox.c.created_at < before, *unless)
        return sent + await self._change(given_up)

    def _to_row(self, value: Notification[Any]) -> dict[str, Any]:
        return {
            "chat_id": value.chat_id,
            "subject": value.subject,
            "kind": str(value.kind),
            "mark": value.mark,
            "queue": value.queue.value,
            "payload": pack(value.payload),
            "status": value.status.value,
            "attempts": value.attempts,
            "maybe_sent": value.maybe_sent,
            "due_at": value.due_at,
            "created_at": value.created_at,
            "message_id": value.message_id,
            "sent_at": value.sent_at,
            "failure": value.failure,
        }

    def _to_value(self, known: dict[str, Any]) -> StoredNotification:
        enums = {"queue": Queue(known["queue"]), "status": NotificationStatus(known["status"])}
        return Notification(**{**known, **enums})


def _of_kinds(subject: str, kinds: Collection[str], chat_id: int) -> dict[str, object]:
    return {"about": subject, "kinds": [str(kind) for kind in kinds], "chat": chat_id}
