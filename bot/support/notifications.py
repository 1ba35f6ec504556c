"""The kinds of notification about tickets, and how they are queued in the transaction that changes the ticket.

No payload contains a message's text. A mark, such as the entry's number, distinguishes notifications of one kind. One
with a known mark isn't sent again. `staff_messages` and `user_messages` have the function of each kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationKind, Queue, Sent, format_mark
from bot.infra.outbox.rendering import FinalResult
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.repository import MovedChatRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import BotMessage, BotMessageRole, Cause, Ticket, TicketEntry
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository


class Remark(StrEnum):
    """What happened to an entry."""

    REPLIED = "replied"  # an agent replied in another chat
    NOTED = "noted"  # an agent wrote a note in another chat
    TAKEN_OVER = "taken_over"  # the entry is the note to the agent who held the ticket
    DELIVERED = "delivered"
    FAILED = "failed"
    CORRECTED = "corrected"  # the user's copy shows the edited reply
    CORRECTION_FAILED = "correction_failed"
    TAKEN_BACK = "taken_back"  # the user's copy is deleted
    BLANKED = "blanked"  # too old to be deleted, so its text was removed
    UNSENT = "unsent"  # taken back before it was sent
    MAYBE_SENT = "maybe_sent"  # taken back, but it may have arrived
    TAKING_BACK_FAILED = "taking_back_failed"


EDITED: Final = "edited"
"""What happened to an entry that its user has edited."""


@dataclass(frozen=True, slots=True)
class AboutTicket:
    """What a notification is about: a ticket, and what else its kind needs.

    Attributes:
        ticket: the reference of the ticket.
        entry: the number of an entry of the ticket, 0 for none.
        what: what happened to the entry (`Remark`, `EDITED`), or without an entry, to the ticket.
        who: the agent who did it, or whom a message of the user mentions. 0 for none.
        before: the agent who held the ticket before, 0 for none.
        why: why it failed.
        since: since when the ticket waits for a reply.
    """

    ticket: str
    entry: int = 0
    what: str = ""
    who: int = 0
    before: int = 0
    why: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeletedTicket:
    """The topics and messages of a deleted ticket in a chat of staff. `outside` are those in no topic of it."""

    ticket: str
    chat: int
    topics: tuple[int, ...]
    messages: tuple[int, ...]
    outside: tuple[int, ...] = ()


Payload = TypeVar("Payload", AboutTicket, DeletedTicket)


class StaffNotification(NotificationKind):
    """Notifications about tickets, for the chats in which support works."""

    NEW_CARD = "ticket_head", AboutTicket  # the card of a new ticket, in its topic
    CARD = "ticket_card", AboutTicket, Queue.EXTRA  # the card has changed
    ENTRY = "ticket_entry", AboutTicket, Queue.EXTRA  # the user wrote something, or edited it
    LINE = (
        "ticket_line",
        AboutTicket,
        Queue.EXTRA,
    )  # what happened to an entry or to the ticket, in one line or as a reaction
    ASK_TO_SEND = (
        "ticket_ask",
        AboutTicket,
        Queue.EXTRA,
    )  # whether the user should get what an agent wrote in the conversation
    WAITS = "ticket_waits", AboutTicket, Queue.EXTRA  # for support: the user has waited too long
    WAITS_LONG = "ticket_waits_long", AboutTicket, Queue.EXTRA  # for operators: support didn't reply after its reminder
    DELETED = "ticket_forgotten", DeletedTicket, Queue.EXTRA  # its user was deleted, so its messages are deleted


class TicketNotification(NotificationKind):
    """Notifications for the user of a ticket."""

    REPLY = "ticket_reply", AboutTicket, Queue.EXTRA
    REPLY_EDITED = "ticket_reply_edited", AboutTicket, Queue.EXTRA
    REPLY_WITHDRAWN = "ticket_reply_withdrawn", AboutTicket, Queue.EXTRA
    CLOSED = "ticket_closed", AboutTicket, Queue.EXTRA


TICKET_SUBJECT: Final = "ticket:"
"""The prefix of the subject of a notification about a ticket. The ticket's reference follows."""


def ticket_subject(reference: str) -> str:
    """Return the subject of all notifications about a ticket."""
    return TICKET_SUBJECT + reference


def ticket_notification(
    chat_id: int, kind: NotificationKind, about: Payload, now: datetime, mark: str = ""
) -> Notification[Payload]:
    """Return a notification about a ticket.

    The messages of support and users share one queue, so that they stay in order. New tickets and failed payouts are in
    the queue of messages about money. Much that one user writes doesn't delay them in the staff's group.
    """
    is_failure = isinstance(about, AboutTicket) and not about.entry and about.what == Cause.FAILED
    created: Notification[Payload] = kind.create(chat_id, ticket_subject(about.ticket), about, now, mark)
    return replace(created, queue=Queue.URGENT) if is_failure else created


async def notify(
    tx: Transaction, chat_ids: Iterable[int], kind: NotificationKind, about: AboutTicket, now: datetime, *mark: object
) -> None:
    """Queue a notification for some chats. Its mark has the parts `mark`."""
    found = [ticket_notification(chat_id, kind, about, now, format_mark(*mark)) for chat_id in chat_ids]
    await OutboxRepository(tx).add(found)


async def notify_staff(
    tx: Transaction, staff_chat: StaffChat, kind: StaffNotification, about: AboutTicket, now: datetime, *mark: object
) -> None:
    """Queue a notification for the chats in which support works."""
    await notify(tx, await staff_chat.chats(tx), kind, about, now, *mark)


async def update_card(tx: Transaction, staff_chat: StaffChat, reference: str, now: datetime, *mark: object) -> None:
    """Queue an update of a ticket's card. `mark` is what has changed."""
    await notify_staff(tx, staff_chat, StaffNotification.CARD, AboutTicket(reference), now, *mark)


async def notify_of_step(tx: Transaction, staff_chat: StaffChat, ticket: Ticket, what: str, now: datetime) -> None:
    """Queue a line to support about a change of a ticket. It mentions the agent who holds the ticket."""
    step = AboutTicket(ticket.reference, what=what, who=ticket.claimed_by or 0)
    await notify_staff(tx, staff_chat, StaffNotification.LINE, step, now, what, ticket.version)


async def notify_user(
    tx: Transaction, ticket: Ticket, kind: TicketNotification, entry: int, now: datetime, *mark: object
) -> None:
    """Queue a notification for the ticket's user, about the entry of this number if there is one."""
    await notify(tx, (ticket.user_id,), kind, AboutTicket(ticket.reference, entry), now, *mark)


async def notify_of_remark(
    tx: Transaction,
    chat_ids: Iterable[int],
    entry: TicketEntry,
    what: Remark,
    now: datetime,
    *mark: str,
    by: int = 0,
    before: int = 0,
    why: str = "",
) -> None:
    """Queue a line about an entry for some chats. `mark` distinguishes equal remarks about one entry."""
    about = AboutTicket(entry.ticket, entry.number, what, by, before, why)
    await notify(tx, chat_ids, StaffNotification.LINE, about, now, what, entry.number, *filter(None, mark))


async def other_staff_chats(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return the chats of support, except the one with the entry's original message."""
    source = await source_chat(tx, entry)
    return tuple(chat_id for chat_id in await staff_chat.chats(tx) if chat_id != source)


async def staff_chats_with_source(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return all chats of support, with the chat of the entry's original message first."""
    return (await source_chat(tx, entry), *await other_staff_chats(tx, staff_chat, entry))


async def source_chat(tx: Transaction, entry: TicketEntry) -> int:
    """Return the current id of the chat with the entry's original message."""
    return await MovedChatRepository(tx).current(entry.source_chat_id)


async def find_entry(tx: Transaction, notification: Notification[AboutTicket]) -> TicketEntry | None:
    """Return the entry that a notification is about, or None if it no longer exists."""
    return await TicketEntryRepository(tx).get(notification.payload.ticket, notification.payload.entry)


async def save_bot_message(
    tx: Transaction,
    notification: Notification[object],
    result: FinalResult,
    now: datetime,
    role: BotMessageRole,
    *,
    ticket: str = "",
    topic_id: int | None = None,
    argument: str = "",
) -> None:
    """Save the message of a notification as a message of the ticket, if it was sent and the ticket still exists.

    So a reply to it belongs to the ticket. `ticket` and `topic_id` replace those of the notification and its message.
    """
    about = notification.payload if isinstance(notification.payload, AboutTicket) else AboutTicket(ticket)
    if not isinstance(result, Sent) or result.message_id is None:
        return
    if await TicketRepository(tx).get(about.ticket) is None:
        return
    await BotMessageRepository(tx).add(
        BotMessage(
            chat_id=notification.chat_id,
            message_id=result.message_id,
            ticket=about.ticket,
            role=role,
            topic_id=result.topic_id if topic_id is None else topic_id,
            entry=about.entry,
            argument=argument,
            at=now,
        )
    )
