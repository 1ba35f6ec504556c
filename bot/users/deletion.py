"""What is forgotten, and how: in every table that knows of a person."""

from datetime import datetime
from typing import Final

from sqlalchemy import (
    BindParameter,
    Delete,
    Integer,
    Update,
    bindparam,
    delete,
    exists,
    false,
    literal,
    null,
    or_,
    select,
    tuple_,
    update,
)

from bot.broadcasts.tables import broadcasts, deliveries
from bot.checkout.tables import IS_CLOSED_DRAFT, drafts
from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.tables import IS_FAREWELL, outbox, to_tell
from bot.infra.telegram.inbound.tables import IS_FINISHED, inbox
from bot.orders.order import Phase
from bot.orders.tables import HAS_RECIPIENT, missed_orders, orders, receipts
from bot.recipients.tables import recipients
from bot.staff.tables import audit
from bot.support.tickets.notifications import TICKET_SUBJECT
from bot.support.tickets.tables import ticket_entries, tickets
from bot.users.tables import IS_AWAY, IS_LEAVING, people, person_acts

NOBODY: Final = 0
"""Stands in the place of a person and a chat that were forgotten; Telegram gives nobody this id."""

ENDED = (Phase.DONE, Phase.REFUSED, Phase.UNSHOWN)
PERSON: BindParameter[int] = bindparam("person", type_=people.c.id.type)
LIMIT: BindParameter[int] = bindparam("limit", type_=Integer())
CHAT = bindparam("person", type_=outbox.c.chat_id.type)

LEAVING = (
    select(people.c.id)
    .where(IS_LEAVING)
    .order_by(people.c.delete_asked_at, people.c.id)
    .limit(LIMIT)
    .offset(bindparam("skipped", type_=Integer()))
)
NEVER_SHOWN = (
    select(orders.c.reference)
    .where(
        orders.c.phase.in_([constant(Phase.UNSHOWN), constant(Phase.REFUSED)]),
        orders.c.is_paid.is_(false()),
        orders.c.created_at < bindparam("before", type_=orders.c.created_at.type),
    )
    .limit(LIMIT)
)
FORGET_NEVER_SHOWN = delete(orders).where(orders.c.reference.in_(NEVER_SHOWN))
BLOCKED_BEFORE = bindparam("before", type_=people.c.blocked_at.type)
AWAY = (
    select(people.c.id).where(IS_AWAY, people.c.blocked_at < BLOCKED_BEFORE).order_by(people.c.blocked_at).limit(LIMIT)
)
HAS_NEWS = select(exists().where(to_tell(outbox), outbox.c.chat_id == CHAT))

# The version moves on, so that whoever read an order before can't write its recipient back.
WITHOUT_RECIPIENT = {
    "number": "",
    "holder": null(),
    "refusal": null(),
    "bolt11": null(),
    "deposit": null(),
    "page_token": null(),
    "payment_seal": null(),  # nothing is left that it covers (`sealing.DIGESTS`)
    "version": orders.c.version + 1,
}
"""The service's own id stays: without it nobody could say any more what became of the money."""

ITS_TICKETS = select(literal(TICKET_SUBJECT) + tickets.c.reference).where(tickets.c.person_id == PERSON)
ITS_ORDERS = select(orders.c.reference).where(orders.c.person_id == PERSON)
FORGET_PERSON: tuple[Delete | Update, ...] = (
    delete(drafts).where(drafts.c.person_id == PERSON),
    delete(recipients).where(recipients.c.person_id == PERSON),
    delete(missed_orders).where(missed_orders.c.person_id == PERSON),
    delete(deliveries).where(deliveries.c.person_id == PERSON),
    # The hash stays: a receipt that was handed on can still be told from a forged one.
    update(receipts).where(receipts.c.reference.in_(ITS_ORDERS)).values(code=""),
    update(orders).where(orders.c.person_id == PERSON).values(person_id=NOBODY, chat_id=NOBODY, **WITHOUT_RECIPIENT),
    delete(outbox).where(outbox.c.chat_id == CHAT),
    delete(outbox).where(outbox.c.subject.in_(ITS_TICKETS)),
    # With what was written in them, and with the messages that belong to them.
    delete(tickets).where(tickets.c.person_id == PERSON),
    delete(person_acts).where(person_acts.c.person_id == PERSON),
    # That staff did something stays, but not to whom, nor what they said of it.
    update(audit).where(audit.c.person_id == PERSON).values(person_id=NOBODY, detail=""),
    # That an update has been dealt with must be known for as long as Telegram may deliver it again.
    update(inbox).where(IS_FINISHED, inbox.c.chat_id == CHAT).values(chat_id=NOBODY),
)
FORGET_PEOPLE_ROW = delete(people).where(people.c.id == PERSON)

BEFORE = bindparam("before", type_=orders.c.created_at.type)
OLD = (
    select(orders.c.reference)
    .where(
        HAS_RECIPIENT,
        orders.c.created_at < BEFORE,
        orders.c.phase.in_([constant(phase) for phase in ENDED]),
        or_(orders.c.ended_at.is_(None), orders.c.ended_at < BEFORE),
    )
    .limit(LIMIT)
)
THESE: BindParameter[tuple[str, ...]] = bindparam("these", expanding=True)
BLANK_CODES = update(receipts).where(receipts.c.reference.in_(THESE)).values(code="")
BLANK_ORDERS = update(orders).where(orders.c.reference.in_(THESE)).values(**WITHOUT_RECIPIENT)

CLOSED = select(drafts.c.id).where(IS_CLOSED_DRAFT, drafts.c.expires_at < BEFORE).order_by(drafts.c.expires_at)
FORGET_CLOSED = delete(drafts).where(IS_CLOSED_DRAFT, drafts.c.id.in_(CLOSED.limit(LIMIT)))
A_DELIVERY = tuple_(deliveries.c.broadcast_id, deliveries.c.person_id)
ENDED_BEFORE = bindparam("before", type_=broadcasts.c.ended_at.type)
OLD_DELIVERIES = (
    select(deliveries.c.broadcast_id, deliveries.c.person_id)
    .join(broadcasts, broadcasts.c.id == deliveries.c.broadcast_id)
    .where(broadcasts.c.ended_at < ENDED_BEFORE)
    .limit(LIMIT)
)
FORGET_DELIVERIES = delete(deliveries).where(A_DELIVERY.in_(OLD_DELIVERIES))
CLOSED_BEFORE = bindparam("before", type_=tickets.c.closed_at.type)
OLD_ENTRIES = (
    select(ticket_entries.c.id)
    .join(tickets, tickets.c.reference == ticket_entries.c.ticket)
    .where(tickets.c.closed_at < CLOSED_BEFORE)
    .limit(LIMIT)
)
FORGET_ENTRIES = delete(ticket_entries).where(ticket_entries.c.id.in_(OLD_ENTRIES))
IS_OVER = outbox.c.status.in_([constant(NotificationStatus.TOLD), constant(NotificationStatus.UNDELIVERABLE)])
FORGET_FAREWELLS = delete(outbox).where(IS_FAREWELL, IS_OVER)


class UserDataRepository:
    """Deletes across tables. Orders are never deleted: they keep their skeleton, without person and recipient."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def leaving(self, limit: int = 100, skipped: int = 0) -> tuple[int, ...]:
        """The persons who wish to be forgotten, the longest waiting first, without the first `skipped`."""
        return tuple((await self._connection.execute(LEAVING, {"limit": limit, "skipped": skipped})).scalars())

    async def away(self, blocked_before: datetime, limit: int = 100) -> tuple[int, ...]:
        """The persons who blocked the bot before, and haven't come back."""
        return tuple((await self._connection.execute(AWAY, {"before": blocked_before, "limit": limit})).scalars())

    async def has_news_to_tell(self, chat_id: int) -> bool:
        """Whether anything waits for its way to this chat, or is on it."""
        return bool((await self._connection.execute(HAS_NEWS, {"person": chat_id})).scalar_one())

    async def person(self, person_id: int) -> bool:
        """Forget all of a person; whether there was one. Their orders must have ended."""
        for statement in FORGET_PERSON:
            await self._connection.execute(statement, {"person": person_id})
        return (await self._connection.execute(FORGET_PEOPLE_ROW, {"person": person_id})).rowcount == 1

    async def recipients_of_orders(self, before: datetime, limit: int) -> int:
        """Take the recipients out of orders that ended before; how many orders that were."""
        these = tuple((await self._connection.execute(OLD, {"before": before, "limit": limit})).scalars())
        if these:
            await self._connection.execute(BLANK_CODES, {"these": these})
            await self._connection.execute(BLANK_ORDERS, {"these": these})
        return len(these)

    async def closed_drafts(self, before: datetime, limit: int) -> int:
        """Delete drafts that were closed and would have lapsed before; how many they were."""
        return (await self._connection.execute(FORGET_CLOSED, {"before": before, "limit": limit})).rowcount

    async def deliveries(self, ended_before: datetime, limit: int) -> int:
        """Delete the ledgers of broadcasts that ended before; how many rows. Their reports stay."""
        known = {"before": ended_before, "limit": limit}
        return (await self._connection.execute(FORGET_DELIVERIES, known)).rowcount

    async def never_shown_orders(self, before: datetime, limit: int) -> int:
        """Delete unpaid orders that were refused or never shown, and created before; how many they were."""
        known = {"before": before, "limit": limit}
        return (await self._connection.execute(FORGET_NEVER_SHOWN, known)).rowcount

    async def entries_of_tickets(self, closed_before: datetime, limit: int) -> int:
        """Delete what was written in tickets that were closed before; how many entries. The tickets stay."""
        known = {"before": closed_before, "limit": limit}
        return (await self._connection.execute(FORGET_ENTRIES, known)).rowcount

    async def farewells(self) -> int:
        """Delete farewells that were told or can't be; how many they were."""
        return (await self._connection.execute(FORGET_FAREWELLS)).rowcount
