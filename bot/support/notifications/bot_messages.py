"""Save the messages of notifications as messages of their tickets, so that replies to them belong to the ticket."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.follow_ups import FinalResult, FollowUp
from bot.infra.outbox.model import Notification, NotificationKind, Sent
from bot.infra.telegram.ui.questions import OpenQuestion
from bot.orders.notification_kinds import AboutOrder, OrderNotification
from bot.support.model import NOTE, SEND, BotMessage, BotMessageRole, TicketEntry
from bot.support.notification_kinds import (
    AboutEntry,
    AboutTicket,
    EntryRemark,
    Remark,
    StaffNotification,
    TicketNotification,
    TicketWait,
    UserEntry,
)
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository

INTERNAL: Final = frozenset({Remark.NOTED, Remark.TAKEN_OVER})
"""Remarks that only agents may see. A reply to one is a note."""


async def find_entry(tx: Transaction, notification: Notification[AboutEntry]) -> TicketEntry | None:
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

    `ticket` and `topic_id` replace the ticket of the notification, and the topic that it was sent to.
    """
    about = notification.payload
    reference = ticket or (about.ticket if isinstance(about, AboutTicket) else "")
    if not isinstance(result, Sent) or result.message_id is None:
        return
    if await TicketRepository(tx).get(reference) is None:
        return
    await BotMessageRepository(tx).add(
        BotMessage(
            chat_id=notification.chat_id,
            message_id=result.message_id,
            ticket=reference,
            role=role,
            topic_id=result.topic_id if topic_id is None else topic_id,
            entry=about.entry if isinstance(about, AboutEntry) else 0,
            argument=argument,
            at=now,
        )
    )


async def _save(tx: Transaction, notification: Notification[AboutTicket], result: FinalResult, now: datetime) -> None:
    await save_bot_message(tx, notification, result, now, BotMessageRole.REMARK)


async def _save_of_order(
    tx: Transaction, notification: Notification[AboutOrder], result: FinalResult, now: datetime
) -> None:
    """Save the message about a problem with an order, if the user has a ticket about the order."""
    ticket = await TicketRepository(tx).open_of(notification.chat_id, notification.payload.reference)
    if ticket is not None:
        await save_bot_message(tx, notification, result, now, BotMessageRole.REMARK, ticket=ticket.reference)


async def _save_entry(
    tx: Transaction, notification: Notification[UserEntry], result: FinalResult, now: datetime
) -> None:
    """Save the copy of a user's message. An agent's reply to it goes to the user.

    If the message shows several, the row has the last, and the first as its argument.
    """
    message_id = (result.message_id or 0) if isinstance(result, Sent) else 0
    before = await BotMessageRepository(tx).get(notification.chat_id, message_id)
    first = (before.argument or str(before.entry)) if before is not None else ""
    await save_bot_message(tx, notification, result, now, BotMessageRole.ENTRY, argument=first)


async def _save_remark(
    tx: Transaction, notification: Notification[EntryRemark], result: FinalResult, now: datetime
) -> None:
    """Save a remark. A reply to it goes to the user, unless the remark is internal."""
    if notification.payload.what in INTERNAL:
        await save_bot_message(tx, notification, result, now, BotMessageRole.QUESTION, argument=str(OpenQuestion(NOTE)))
    else:
        await save_bot_message(tx, notification, result, now, BotMessageRole.REMARK)


async def _save_send_question(
    tx: Transaction, notification: Notification[AboutEntry], result: FinalResult, now: datetime
) -> None:
    """Save the question whether to send an agent's messages. A reply to it is another such message."""
    question = OpenQuestion(SEND, str(notification.payload.entry))
    await save_bot_message(tx, notification, result, now, BotMessageRole.QUESTION, argument=str(question))


async def _save_reminder(
    tx: Transaction, notification: Notification[TicketWait], result: FinalResult, now: datetime
) -> None:
    card = await BotMessageRepository(tx).card(notification.payload.ticket, notification.chat_id)
    await save_bot_message(
        tx, notification, result, now, BotMessageRole.REMARK, topic_id=card.topic_id if card else None
    )


FOLLOW_UPS: Final[Mapping[NotificationKind, FollowUp]] = {
    TicketNotification.CLOSED: _save,
    OrderNotification.FAILED: _save_of_order,
    OrderNotification.STUCK: _save_of_order,
    StaffNotification.ENTRY: _save_entry,
    StaffNotification.EDITED: _save_entry,
    StaffNotification.STEP: _save,
    StaffNotification.REMARK: _save_remark,
    StaffNotification.ASK_TO_SEND: _save_send_question,
    StaffNotification.WAITS: _save_reminder,
}
"""What is saved when a notification was sent or given up."""
