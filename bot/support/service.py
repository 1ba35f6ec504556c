"""Change tickets for users and their orders, and remind of those that wait.

A change locks the ticket, decides and saves in one transaction, with its notifications. A message that was saved before
changes nothing: after a crash, its update is handled again.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus, Queue, format_mark, format_moment
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.workers import run_each
from bot.orders.order import Order, OrderProblem
from bot.orders.repository import OrderRepository
from bot.settlement.model import COMPLETED
from bot.staff.audit import record_audit
from bot.staff.model import AlarmKind, AuditAction
from bot.staff.outcomes import MONEY_OUTCOMES, Outcome
from bot.staff.repository import AlarmRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import TAG, Cause, EntryKind, IncomingMessage, Rating, Ticket, TicketEntry
from bot.support.notifications import (
    AboutTicket,
    StaffNotification,
    TicketNotification,
    notify,
    notify_of_step,
    notify_staff,
    ticket_notification,
    ticket_subject,
    update_card,
)
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.users.model import User, UserEvent
from bot.users.repository import UserRepository, record_user_event

GONE: Final = "support.staff.gone"
HIDDEN_NUMBER: Final = "support.staff.refusal.hidden_number"
MAX_PAGE_ANSWER: Final = 1_000
"""Characters."""


_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s.()+'-]+(?=\d)")


class TicketService:
    """Change tickets."""

    def __init__(self, database: Database, clock: Clock, staff_chat: StaffChat) -> None:
        self._database = database
        self._clock = clock
        self._staff_chat = staff_chat

    @asynccontextmanager
    async def _change(self, reference: str) -> AsyncIterator[tuple[Transaction, Ticket, datetime]]:
        """Yield a transaction, the ticket that is locked in it, and the time. If the block raises, nothing is saved.

        Raises:
            Rejection: there is no such ticket.
        """
        async with self._database.transaction() as tx:
            ticket = await TicketRepository(tx).lock(reference)
            if ticket is None:
                raise Rejection(GONE)
            yield tx, ticket, self._clock.now()

    async def _save(self, tx: Transaction, before: Ticket, after: Ticket, now: datetime) -> Ticket:
        """Save a changed ticket and update its cards. Do nothing if nothing has changed."""
        return await save_ticket(tx, self._staff_chat, before, after, now)


async def save_ticket(tx: Transaction, staff_chat: StaffChat, before: Ticket, after: Ticket, now: datetime) -> Ticket:
    """Save a locked ticket and update its cards. Do nothing if nothing has changed."""
    if after == before:
        return before
    saved = await TicketRepository(tx).save(after)
    await update_card(tx, staff_chat, saved.reference, now, saved.version)
    return saved


async def end_pause(tx: Transaction, staff_chat: StaffChat, reference: str, now: datetime) -> Ticket | None:
    """Let a ticket come back that was set aside. Return None if it wasn't, or came back before."""
    ticket = await TicketRepository(tx).lock(reference)
    if ticket is None or ticket.paused_until is None:
        return None
    return await save_ticket(tx, staff_chat, ticket, ticket.come_back(now), now)


async def open_ticket(
    tx: Transaction, staff_chat: StaffChat, user_id: int, order_reference: str, now: datetime, *, cause: Cause
) -> tuple[Ticket, bool]:
    """Return the locked open ticket of a user about an order, or about none, and whether it was opened now."""
    tickets = TicketRepository(tx)
    while (known := await tickets.lock_open_of(user_id, order_reference)) is None:
        ticket = Ticket.open(user_id, now, order_reference=order_reference, cause=cause)
        if await tickets.add(ticket):
            await notify_staff(tx, staff_chat, StaffNotification.NEW_CARD, AboutTicket(ticket.reference), now)
            return ticket, True
        # Another process has opened one at the same time.
    return known, False


async def check_none_open(tx: Transaction, ticket: Ticket) -> None:
    """Check that no other ticket is open about the same, before a closed ticket is reopened.

    Raises:
        Rejection: another ticket is open.
    """
    if not ticket.is_open and await TicketRepository(tx).open_of(ticket.user_id, ticket.order_reference) is not None:
        raise Rejection("support.ticket.another_open")


async def check_hidden_number(tx: Transaction, ticket: Ticket, text: str | None) -> None:
    """Check that a reply doesn't quote the whole number of a recipient whom the ticket's user may not see.

    Raises:
        Rejection: it does. What a picture shows can't be checked.
    """
    reference = ticket.order_reference
    order = await OrderRepository(tx).get_if_readable(reference) if reference else None
    if order is not None:
        _check_quote(order, text)


def _check_quote(order: Order, text: str | None) -> None:
    if not order.hides_recipient or not order.has_recipient:
        return
    digits = _BETWEEN_DIGITS.sub("", TAG.sub("", text or ""))
    if order.number.lstrip("0") in digits:  # +62 812 … is 0812 …
        raise Rejection(HIDDEN_NUMBER)


async def answer_on_page(tx: Transaction, reference: str, text: str, *, by: int, now: datetime) -> None:
    """Save what the page of an order says to a payer without a chat, in place of what it said before.

    Raises:
        Rejection: no such order, or its payer has a chat. Its page is the receipt. No text, or over `MAX_PAGE_ANSWER`
            characters. It has the recipient's number, which a payer may not see. The order has just changed.
    """
    order = await OrderRepository(tx).get_if_readable(reference)
    if order is None or order.payer.secret_hash is None:
        raise Rejection("support.page_answer.how")
    if order.state == COMPLETED:
        raise Rejection("support.page_answer.receipt")
    if not 0 < len(text) <= MAX_PAGE_ANSWER:
        raise Rejection("support.page_answer.length", most=MAX_PAGE_ANSWER)
    _check_quote(order, text)
    if await OrderRepository(tx).save(replace(order, answer=text)) is None:
        raise Rejection("support.page_answer.again")
    await record_audit(tx, by, AuditAction.ANSWERED, f"order:{reference}", now)


async def add_entry(
    tx: Transaction, ticket: Ticket, incoming: IncomingMessage, kind: EntryKind, *, by: int, now: datetime
) -> TicketEntry | None:
    """Save a message in a ticket. Return None if it was saved before."""
    return await TicketEntryRepository(tx).add(
        TicketEntry(
            ticket=ticket.reference,
            number=0,
            kind=kind,
            author_id=by,
            at=now,
            text=incoming.text,
            media=incoming.media,
            file_id=incoming.file_id,
            source_chat_id=incoming.chat_id,
            source_message_id=incoming.message_id,
        )
    )


async def audit_ticket(
    tx: Transaction, ticket: Ticket, action: AuditAction, *, by: int, now: datetime, detail: str = ""
) -> None:
    """Record an action in the audit log. `detail` never contains a message's text."""
    subject = ticket_subject(ticket.reference)
    await record_audit(tx, by, action, subject, now, user_id=ticket.user_id, detail=detail)


EVENT_OF: Final[Mapping[Rating, UserEvent]] = {Rating.GOOD: UserEvent.RATED_GOOD, Rating.BAD: UserEvent.RATED_BAD}

MAX_WAITING: Final = 20
"""So many messages of one ticket can wait for their way to support. Then its user is told to wait before the next."""


@dataclass(frozen=True, slots=True)
class SavedMessage:
    """The ticket of a message, and what the user did with it. `event` is None if the message was saved before."""

    ticket: Ticket
    event: UserEvent | None


class UserTicketService(TicketService):
    """Change tickets for their users. `reopen_within` is how long after it was closed a ticket can be reopened."""

    def __init__(self, database: Database, clock: Clock, staff_chat: StaffChat, *, reopen_within: timedelta) -> None:
        super().__init__(database, clock, staff_chat)
        self.reopen_within = reopen_within

    async def ask(self, user: User, incoming: IncomingMessage, order_reference: str = "") -> SavedMessage:
        """Open a ticket with a message, or add it to the open ticket about the same.

        `user` is saved in the same transaction, because their question is answered.
        """

        async def find(tx: Transaction, now: datetime) -> SavedMessage:
            ticket, is_new = await open_ticket(tx, self._staff_chat, user.id, order_reference, now, cause=Cause.ASKED)
            return SavedMessage(ticket, UserEvent.OPENED_TICKET if is_new else UserEvent.ADDED_MESSAGE)

        return await self._save_message(user, incoming, find)

    async def write(self, user: User, incoming: IncomingMessage, reference: str) -> SavedMessage:
        """Add a message to a ticket of the user. This reopens a closed ticket.

        If another ticket is open about the same, the message is added to that one.

        Raises:
            Rejection: the ticket was closed too long ago, or it isn't the user's.
        """

        async def find(tx: Transaction, now: datetime) -> SavedMessage:
            ticket = await TicketRepository(tx).lock(reference)
            if ticket is None or ticket.user_id != user.id:
                raise Rejection("support.ticket.gone")
            about = ticket.order_reference
            current = ticket if ticket.is_open else await TicketRepository(tx).lock_open_of(user.id, about)
            if current is not None:
                return SavedMessage(current, UserEvent.ADDED_MESSAGE)
            reopened = ticket.reopen(now, self.reopen_within)
            return SavedMessage(await self._save(tx, ticket, reopened, now), UserEvent.REOPENED)

        return await self._save_message(user, incoming, find)

    async def reopen(self, ticket: Ticket) -> Ticket:
        """Reopen a ticket.

        Raises:
            Rejection: the ticket is open, was closed too long ago, or another is open about the same.
        """
        async with self._change(ticket.reference) as (tx, current, now):
            await check_none_open(tx, current)
            saved = await self._save(tx, current, current.reopen(now, self.reopen_within), now)
            await notify_of_step(tx, self._staff_chat, saved, str(UserEvent.REOPENED), now)
            await record_user_event(tx, saved.user_id, UserEvent.REOPENED, now, saved.order_reference)
            return saved

    async def is_crowded(self, ticket: Ticket) -> bool:
        """Return whether `MAX_WAITING` messages of the ticket's user wait for their way to support, and no more."""
        async with self._database.reading() as tx:
            queued = await OutboxRepository(tx).find_by_subject(ticket_subject(ticket.reference))
        is_waiting = (StaffNotification.ENTRY, NotificationStatus.WAITING, "")
        waiting = (each for each in queued if (each.kind, each.status, each.payload.get("what")) == is_waiting)
        return len({each.mark for each in waiting}) == MAX_WAITING

    async def rate(self, ticket: Ticket, rating: Rating) -> Ticket:
        """Save the user's rating of the help. The last rating counts.

        Raises:
            Rejection: the ticket is open.
        """
        async with self._change(ticket.reference) as (tx, current, now):
            if not current.is_open and current.rating is rating:
                return current
            saved = await self._save(tx, current, current.rate(rating, now), now)
            await record_user_event(tx, saved.user_id, EVENT_OF[rating], now, saved.order_reference)
            return saved

    async def _save_message(
        self, user: User, incoming: IncomingMessage, find: Callable[[Transaction, datetime], Awaitable[SavedMessage]]
    ) -> SavedMessage:
        """Save a message in the locked ticket that `find` returns, and the user. Do nothing if it was saved before."""
        async with self._database.transaction() as tx:
            now, entries = self._clock.now(), TicketEntryRepository(tx)
            earlier = await entries.of_source(incoming.chat_id, incoming.message_id)
            known = await TicketRepository(tx).get(earlier.ticket) if earlier else None
            message = SavedMessage(known, None) if known is not None else await find(tx, now)
            ticket, event = message.ticket, message.event
            after = ticket.add_message(now) if event is UserEvent.ADDED_MESSAGE else ticket
            if event is not None and incoming.has_payee:
                after = replace(after, has_payee=True)
            ticket = await self._save(tx, ticket, after, now)
            entry = await add_entry(tx, ticket, incoming, EntryKind.ASKED, by=user.id, now=now) if event else None
            if event is not None and entry is not None:
                about = AboutTicket(ticket.reference, entry.number, who=ticket.claimed_by or 0)
                await notify_staff(tx, self._staff_chat, StaffNotification.ENTRY, about, now, entry.number)
                await record_user_event(tx, user.id, event, now, ticket.order_reference)
            await UserRepository(tx).save(user)
            return SavedMessage(ticket, event)


CAUSE_OF: Final[Mapping[OrderProblem, Cause]] = {
    OrderProblem.OVERDUE: Cause.STUCK,
    OrderProblem.FAILED: Cause.FAILED,
}


class OrderTicketListener:
    """Open tickets about paid orders that need help, and update the cards of tickets when their orders change.

    It is an `OrderListener`: its methods are called in the transaction that changes the order.
    """

    def __init__(self, staff_chat: StaffChat) -> None:
        self._staff_chat = staff_chat

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Open a ticket about a paid order with a problem, or add the problem to its open ticket.

        The message about the problem says so to the user. Nothing is done if there is no support agent, or if the payer
        has no chat in which a ticket could be answered. Operators have an alarm about the order in any case. A ticket
        that its user opened keeps its cause. Otherwise the newest problem becomes the cause.
        """
        if not self._staff_chat.is_open or not order.payer.has_chat:
            return
        cause = CAUSE_OF[problem]
        ticket, is_new = await open_ticket(tx, self._staff_chat, order.user_id, order.reference, now, cause=cause)
        if not is_new:
            after = (ticket if ticket.cause is Cause.ASKED else replace(ticket, cause=cause)).add_message(now)
            saved = await save_ticket(tx, self._staff_chat, ticket, after, now)
            await notify_of_step(tx, self._staff_chat, saved, str(cause), now)

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Update the cards of the open tickets about the order. If the rupiah were sent, close an untouched one."""
        for known in await TicketRepository(tx).of_order(order.reference):
            ticket = await TicketRepository(tx).lock(known.reference) if known.is_open else None
            if ticket is not None and ticket.is_open:
                if order.state == COMPLETED and await _is_untouched(tx, ticket):
                    await _close_by_bot(tx, ticket, now)
                await update_card(tx, self._staff_chat, ticket.reference, now, "order", order.version)


async def tell_ticket(
    staff_chat: StaffChat, tx: Transaction, reference: str, outcome: str, now: datetime, *, besides: int = 0
) -> bool:
    """Record how an order ended, as staff say, and write it into its open tickets, with a message to its user.

    A ticket that was set aside comes back. `besides` is the chat that knows it already. Return False if nothing was
    recorded: it was before, or `outcome` doesn't say where the money is.
    """
    known = next((each for each in MONEY_OUTCOMES if each == outcome), None)
    is_recorded = outcome != Outcome.OTHER and await OrderRepository(tx).record_outcome(reference, known)
    chats, mark = [each for each in await staff_chat.chats(tx) if each != besides], int(now.timestamp() * 1_000_000)
    for ticket in await TicketRepository(tx).of_order(reference):
        if ticket.is_open:
            step = AboutTicket(ticket.reference, what=f"handled_{outcome}", who=ticket.claimed_by or 0)
            await notify(tx, chats, StaffNotification.LINE, step, now, step.what, mark)
            await update_card(tx, staff_chat, ticket.reference, now, step.what, mark)
            await end_pause(tx, staff_chat, ticket.reference, now)
    return is_recorded


async def _is_untouched(tx: Transaction, ticket: Ticket) -> bool:
    """Return whether nobody has written, noted or claimed, and no operator has taken the alarm about the order."""
    alarm = (AlarmKind.ORDER_STUCK, ticket.order_reference)
    return (
        ticket.cause is Cause.STUCK
        and ticket.claimed_by is None
        and not await TicketEntryRepository(tx).of_ticket(ticket.reference)
        and any((each.kind, each.subject) == alarm for each in await AlarmRepository(tx).find_open())
    )


async def _close_by_bot(tx: Transaction, ticket: Ticket, now: datetime) -> None:
    """Close a ticket, and notify its user."""
    saved = await TicketRepository(tx).save(ticket.close_by_bot(now))
    about, mark = AboutTicket(saved.reference), format_mark(saved.version)
    notification = ticket_notification(saved.user_id, TicketNotification.CLOSED, about, now, mark)
    # In the queue of the message that the rupiah were sent, so that it comes after it.
    await OutboxRepository(tx).add([replace(notification, queue=Queue.URGENT)])


SECONDS_BETWEEN: Final = 3.0


def due_reminder(ticket: Ticket, now: datetime, remind_after: timedelta) -> StaffNotification | None:
    """Return the reminder of the ticket that is due now: to support, later to operators, or None."""
    if (
        not ticket.is_open
        or ticket.paused_until is not None
        or ticket.waiting_since is None
        or now < ticket.waiting_since + remind_after
    ):
        return None
    if ticket.reminded_at is None:
        return StaffNotification.WAITS
    is_due = ticket.escalated_at is None and now >= ticket.reminded_at + remind_after
    return StaffNotification.WAITS_LONG if is_due else None


def record_reminder(ticket: Ticket, reminder: StaffNotification, now: datetime) -> Ticket:
    """Return the ticket after a reminder."""
    is_first = reminder is StaffNotification.WAITS
    return replace(ticket, reminded_at=now) if is_first else replace(ticket, escalated_at=now)


class TicketReminderService(TicketService):
    """Remind support of tickets that have waited `remind_after`, and operators as long after that, once in a wait.

    A ticket that was set aside comes back when its order has moved, or its time is over.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        *,
        operator_ids: frozenset[int],
        remind_after: timedelta,
    ) -> None:
        super().__init__(database, clock, staff_chat)
        self._operators = operator_ids
        self._remind_after = remind_after

    async def tick(self) -> float:
        """Remind of what is due, let come back what was set aside, and return the seconds until the next call."""
        await self.end_pauses()
        await self.remind()
        return SECONDS_BETWEEN

    async def end_pauses(self) -> int:
        """Let the tickets come back whose order has moved, or whose time is over. Return how many there were."""
        async with self._database.reading() as tx:
            paused = await TicketRepository(tx).paused()
            due = [each.reference for each in paused if await self._find_end(tx, each)]
        return sum(await run_each("tickets", due, self._end_pause))

    async def _find_end(self, tx: Transaction, ticket: Ticket) -> str:
        """Return what has ended a pause: "moved", "pause_over", or "" if nothing has yet."""
        now, order = self._clock.now(), None
        if ticket.order_reference:
            order = await OrderRepository(tx).get_if_readable(ticket.order_reference)
        if order is not None and order.status(now) != ticket.paused_status:
            return "moved"
        return "pause_over" if ticket.paused_until is not None and ticket.paused_until <= now else ""

    async def _end_pause(self, reference: str) -> bool:
        async with self._change(reference) as (tx, ticket, now):
            end = await self._find_end(tx, ticket)
            saved = await end_pause(tx, self._staff_chat, reference, now) if end else None
            if saved is not None:
                await notify_of_step(tx, self._staff_chat, saved, end, now)
            return saved is not None

    async def remind(self) -> int:
        """Remind of every ticket that has waited too long, and return how many there were."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            waiting = await TicketRepository(tx).waiting(now - self._remind_after)
        due = [ticket.reference for ticket in waiting if due_reminder(ticket, now, self._remind_after)]
        return sum(await run_each("tickets", due, self._remind))

    async def _remind(self, reference: str) -> bool:
        """Queue the reminder and save its time, unless an agent has replied since."""
        async with self._change(reference) as (tx, ticket, now):
            reminder = due_reminder(ticket, now, self._remind_after)
            if reminder is None or ticket.waiting_since is None:
                return False
            await self._save(tx, ticket, record_reminder(ticket, reminder, now), now)
            is_first = reminder is StaffNotification.WAITS
            chats = await self._staff_chat.chats(tx) if is_first else tuple(sorted(self._operators))
            # A ticket can wait several times, so the start of the wait is the mark.
            mark = format_moment(ticket.waiting_since)
            about = AboutTicket(reference, since=ticket.waiting_since)
            await notify(tx, chats, reminder, about, now, mark)
            return True
