"""Read and write tickets, their entries and the bot's messages, revealed recipients and saved replies.

Texts are encrypted.
"""

from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Select, bindparam, case, delete, exists, func, not_, select, update

from bot.infra.db import encryption
from bot.infra.db.repository import Repository, once
from bot.orders.tables import HAS_MONEY_AT_RISK, orders
from bot.support.model import (
    BotMessage,
    BotMessageRole,
    Cause,
    CloseReason,
    EntryKind,
    MediaKind,
    Rating,
    Reveal,
    SavedReply,
    Ticket,
    TicketEntry,
    TicketFilter,
    TicketStatus,
    TicketTimes,
)
from bot.support.tables import (
    IS_OPEN_TICKET,
    IS_PAUSED_TICKET,
    IS_REVEALED,
    IS_WAITING_TICKET,
    reveals,
    saved_replies,
    ticket_entries,
    ticket_posts,
    tickets,
)

log = structlog.get_logger(__name__)


class TicketRepository(Repository[Ticket]):
    """Read and write tickets. A user can have one open ticket about each order, and one about none."""

    table = tickets

    async def add(self, ticket: Ticket) -> bool:
        """Insert a ticket. Return False if one about the same is open, or the reference is taken."""
        is_added = await self._insert(ticket)
        if is_added:
            self._tx.on_commit.append(partial(_log_opened, ticket))
        return is_added

    async def get(self, reference: str) -> Ticket | None:
        """Return the ticket with this reference."""
        return await self._get(select(tickets).where(tickets.c.reference == reference))

    async def lock(self, reference: str) -> Ticket | None:
        """Return the ticket with this reference. No other transaction can change it until this one ends."""
        one = select(tickets).where(tickets.c.reference == reference)
        return await self._get(one.with_for_update(key_share=True))

    async def lock_next(self, staff_id: int, agents: Collection[int], lapsed_at: datetime) -> Ticket | None:
        """Return and lock the ticket that this agent works on next, or None if none waits for them.

        Tickets with money at risk come first, then the agent's own, then those that have waited longest. A colleague's
        is left out, unless it was claimed before `lapsed_at` and waits since before that, or they are no agent now.
        """
        is_lapsed = (tickets.c.claimed_at <= lapsed_at) & (tickets.c.waiting_since <= lapsed_at)
        is_free = tickets.c.claimed_by.is_(None) | tickets.c.claimed_by.not_in(agents) | is_lapsed
        is_own = tickets.c.claimed_by == staff_id
        is_at_risk = exists().where(orders.c.reference == tickets.c.order_reference, HAS_MONEY_AT_RISK)
        waiting = select(tickets).where(IS_WAITING_TICKET, IS_OPEN_TICKET, not_(IS_PAUSED_TICKET), is_own | is_free)
        in_order = waiting.order_by(
            case((is_at_risk, 0), else_=1),
            case((is_own, 0), else_=1),
            case((is_at_risk, tickets.c.created_at), else_=tickets.c.waiting_since),
            tickets.c.reference,
        )
        # One after the other, because one that can't be read shuts out no others.
        for known in await self._find(in_order):
            one = waiting.where(tickets.c.reference == known.reference).with_for_update(key_share=True, of=tickets)
            if (locked := await self._find_first(one)) is not None:
                return locked
        return None

    async def save(self, ticket: Ticket) -> Ticket:
        """Save a locked ticket, and return it with its next version."""
        saved = replace(ticket, version=ticket.version + 1)
        await self._change(update(tickets).where(tickets.c.reference == ticket.reference), self._seal(saved))
        return saved

    async def open_of(self, user_id: int, order_reference: str = "") -> Ticket | None:
        """Return the open ticket of a user about this order, or about none."""
        return await self._find_first(_select_open(user_id, order_reference))

    async def lock_open_of(self, user_id: int, order_reference: str) -> Ticket | None:
        """Return and lock the open ticket of a user about this order, or about none."""
        return await self._find_first(_select_open(user_id, order_reference).with_for_update(key_share=True))

    async def of_user(self, user_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Ticket, ...]:
        """Return a user's tickets: open ones first, then the newest."""
        of_user = select(tickets).where(tickets.c.user_id == user_id)
        open_first = of_user.order_by(IS_OPEN_TICKET.desc(), tickets.c.created_at.desc(), tickets.c.reference)
        return await self._find(open_first.limit(limit).offset(offset))

    async def with_references(self, references: Collection[str]) -> tuple[Ticket, ...]:
        """Return the tickets with these references, oldest first, without those that can't be read."""
        found = select(tickets).where(tickets.c.reference.in_(references))
        return await self._find(found.order_by(tickets.c.created_at, tickets.c.reference))

    async def of_order(self, order_reference: str) -> tuple[Ticket, ...]:
        """Return the tickets about an order, newest first."""
        about = once(
            lambda: (
                select(tickets)
                .where(tickets.c.order_reference == bindparam("about"))
                .order_by(tickets.c.created_at.desc(), tickets.c.reference)
            )
        )
        return await self._find(about, {"about": order_reference})

    async def listed(self, which: TicketFilter, staff_id: int, *, limit: int, offset: int) -> tuple[Ticket, ...]:
        """Return a list of tickets, oldest first. Closed tickets: the last closed first. `staff_id` is for `MINE`."""
        first = tickets.c.closed_at.desc() if which is TicketFilter.CLOSED else tickets.c.created_at
        listed = select(tickets).where(_is_listed(which, staff_id)).order_by(first, tickets.c.reference)
        return await self._find(listed.limit(limit).offset(offset))

    async def count(self, which: TicketFilter, staff_id: int) -> int:
        """Return how many tickets a list has."""
        return await self._count(_is_listed(which, staff_id))

    async def waiting(self, since: datetime) -> tuple[Ticket, ...]:
        """Return the open tickets that have waited since `since` or longer, the longest first."""
        waiting = select(tickets).where(IS_WAITING_TICKET, IS_OPEN_TICKET, tickets.c.waiting_since <= since)
        return await self._find(waiting.order_by(tickets.c.waiting_since, tickets.c.reference))

    async def paused(self) -> tuple[Ticket, ...]:
        """Return the tickets that are set aside."""
        return await self._find(select(tickets).where(IS_PAUSED_TICKET).order_by(tickets.c.paused_until))

    async def count_paused(self) -> int:
        """Return how many tickets are set aside."""
        return await self._count(IS_PAUSED_TICKET)

    async def newest_users(self, limit: int) -> tuple[int, ...]:
        """Return the users of the newest tickets, each once."""
        newest = select(tickets.c.user_id).order_by(tickets.c.created_at.desc()).limit(limit)
        found = (await self._connection.execute(newest)).scalars()
        return tuple(dict.fromkeys(int(user_id) for user_id in found))

    async def times(self, since: datetime, until: datetime) -> tuple[TicketTimes, ...]:
        """Return the times of the tickets that were opened from `since` to before `until`."""
        columns = (tickets.c[name] for name in ("reference", "created_at", "first_reply_at", "closed_at", "rating"))
        opened = select(*columns).where(tickets.c.created_at >= since, tickets.c.created_at < until)
        found = await self._connection.execute(opened)
        return encryption.read_rows(self._vault, tickets, found.mappings(), _to_times)

    def _to_value(self, known: dict[str, Any]) -> Ticket:
        known["cause"], known["status"] = Cause(known["cause"]), TicketStatus(known["status"])
        known["close_reason"] = CloseReason(known["close_reason"]) if known["close_reason"] else None
        known["rating"] = Rating(known["rating"]) if known["rating"] else None
        return Ticket(**known)


def _select_open(user_id: int, order_reference: str) -> Select[Any]:
    open_of_user = select(tickets).where(IS_OPEN_TICKET, tickets.c.user_id == user_id)
    return open_of_user.where(tickets.c.order_reference == order_reference)


def _to_times(known: dict[str, Any]) -> TicketTimes:
    rating = known["rating"]
    return TicketTimes(
        known["created_at"], known["first_reply_at"], known["closed_at"], Rating(rating) if rating else None
    )


def _is_listed(which: TicketFilter, staff_id: int) -> ColumnElement[bool]:
    match which:
        case TicketFilter.OPEN:
            return IS_OPEN_TICKET
        case TicketFilter.MINE:
            return IS_OPEN_TICKET & (tickets.c.claimed_by == staff_id)
        case TicketFilter.UNCLAIMED:
            return IS_OPEN_TICKET & tickets.c.claimed_by.is_(None)
        case TicketFilter.CLOSED:
            return tickets.c.closed_at.is_not(None)


def _log_opened(ticket: Ticket) -> None:
    log.info("ticket_opened", cause=str(ticket.cause), **ticket.log_fields)


CHANGES = ("kind", "text", "media", "file_id", "message_id", "delivered_at", "failure", "edited_at", "withdrawn_at")


class TicketEntryRepository(Repository[TicketEntry]):
    """Read and write the entries of tickets."""

    table = ticket_entries

    async def add(self, entry: TicketEntry) -> TicketEntry | None:
        """Insert an entry with the next number of its ticket. Return None if its original message was saved before."""
        while await self.of_source(entry.source_chat_id, entry.source_message_id) is None:
            newest = select(func.max(ticket_entries.c.number)).where(ticket_entries.c.ticket == entry.ticket)
            numbered = replace(entry, number=(await self._connection.scalar(newest) or 0) + 1)
            if await self._insert(numbered):
                return numbered
            # On PostgreSQL, another process may have used the number, or saved the message, at the same time.
        return None

    async def get(self, ticket: str, number: int) -> TicketEntry | None:
        """Return one entry."""
        return await self._get(select(ticket_entries).where(ticket_entries.c.id == f"{ticket}.{number}"))

    async def last_asked(self, ticket: str) -> TicketEntry | None:
        """Return what the ticket's user wrote last."""
        asked = select(ticket_entries).where(
            ticket_entries.c.ticket == ticket, ticket_entries.c.kind == EntryKind.ASKED
        )
        return await self._find_first(asked.order_by(ticket_entries.c.number.desc()).limit(1))

    async def of_ticket(self, ticket: str) -> tuple[TicketEntry, ...]:
        """Return the entries of a ticket, oldest first."""
        of_ticket = select(ticket_entries).where(ticket_entries.c.ticket == ticket)
        return await self._find(of_ticket.order_by(ticket_entries.c.number))

    async def undecided_of(self, ticket: str, author_id: int) -> tuple[TicketEntry, ...]:
        """Return what this agent wrote in the ticket's conversation and hasn't decided about, oldest first."""
        return tuple(
            entry
            for entry in await self.of_ticket(ticket)
            if entry.kind is EntryKind.UNDECIDED and entry.author_id == author_id
        )

    async def of_source(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """Return the entry of an original message."""
        of_chat = select(ticket_entries).where(ticket_entries.c.source_chat_id == chat_id)
        return await self._get(of_chat.where(ticket_entries.c.source_message_id == message_id))

    async def save(self, entry: TicketEntry) -> None:
        """Save the columns of an entry that can change (`CHANGES`)."""
        row = self._seal(entry)
        changed = {name: row[name] for name in CHANGES}
        await self._change(update(ticket_entries).where(ticket_entries.c.id == entry.id), changed)

    def _to_row(self, value: TicketEntry) -> dict[str, Any]:
        return {"id": value.id, **asdict(value)}

    def _to_value(self, known: dict[str, Any]) -> TicketEntry:
        del known["id"]
        known["kind"] = EntryKind(known["kind"])
        known["media"] = MediaKind(known["media"]) if known["media"] else None
        return TicketEntry(**known)


class BotMessageRepository(Repository[BotMessage]):
    """Read and write the bot's messages of tickets."""

    table = ticket_posts

    async def add(self, bot_message: BotMessage) -> None:
        """Insert or replace a message."""
        await self._replace(bot_message)

    async def get(self, chat_id: int, message_id: int) -> BotMessage | None:
        """Return a message, or None if it belongs to no ticket."""
        return await self._find_first(select(ticket_posts).where(_is_message(chat_id, message_id)))

    async def card(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest card of a ticket in a chat."""
        return next((card for card in await self.cards(ticket) if card.chat_id == chat_id), None)

    async def cards(self, ticket: str) -> tuple[BotMessage, ...]:
        """Return the newest card of a ticket in each chat."""
        cards = _of_role(ticket, BotMessageRole.CARD)
        found: dict[int, BotMessage] = {}
        for card in await self._find(cards.order_by(ticket_posts.c.at.desc(), ticket_posts.c.message_id.desc())):
            found.setdefault(card.chat_id, card)
        return tuple(found.values())

    async def of_entry(self, ticket: str, entry: int, chat_id: int) -> BotMessage | None:
        """Return the newest message that shows an entry in a chat, or several entries with this one."""
        of_role = _of_role(ticket, BotMessageRole.ENTRY)
        from_entry_on = of_role.where(ticket_posts.c.entry >= entry, ticket_posts.c.chat_id == chat_id)
        found = await self._find(from_entry_on.order_by(ticket_posts.c.entry, ticket_posts.c.message_id.desc()))
        return next((each for each in found if int(each.argument or each.entry) <= entry), None)

    async def questions(self, ticket: str, chat_id: int) -> tuple[BotMessage, ...]:
        """Return the questions to agents about a ticket in a chat, oldest first."""
        questions = _of_role(ticket, BotMessageRole.QUESTION).order_by(ticket_posts.c.message_id)
        return tuple(question for question in await self._find(questions) if question.chat_id == chat_id)

    async def in_staff_chats(self, user_id: int) -> tuple[BotMessage, ...]:
        """Return the bot's messages of a user's tickets in the chats of staff, oldest first in each."""
        of_tickets = select(ticket_posts).join(tickets, tickets.c.reference == ticket_posts.c.ticket)
        elsewhere = of_tickets.where(tickets.c.user_id == user_id, ticket_posts.c.chat_id != tickets.c.user_id)
        return await self._find(elsewhere.order_by(ticket_posts.c.chat_id, ticket_posts.c.message_id))

    async def of_topic(self, chat_id: int, topic_id: int) -> str | None:
        """Return the reference of a topic's ticket."""
        of_topic = select(ticket_posts.c.ticket).where(_is_of_topic(chat_id, topic_id))
        found: str | None = await self._connection.scalar(of_topic.limit(1))
        return found

    async def topic(self, ticket: str, chat_id: int) -> BotMessage | None:
        """Return the newest topic of a ticket in a chat."""
        # We filter by chat in Python. With a chat in the query, SQLite would read all messages of the chat.
        topics = await self._find(_of_role(ticket, BotMessageRole.TOPIC).order_by(ticket_posts.c.message_id.desc()))
        return next((topic for topic in topics if topic.chat_id == chat_id), None)

    async def delete(self, chat_id: int, message_id: int) -> None:
        """Delete one message that no longer exists in Telegram."""
        await self._change(delete(ticket_posts).where(_is_message(chat_id, message_id)))

    async def delete_topic(self, chat_id: int, topic_id: int) -> None:
        """Delete the messages of a topic that no longer exists in Telegram."""
        await self._change(delete(ticket_posts).where(_is_of_topic(chat_id, topic_id)))

    async def delete_in_chat(self, chat_id: int) -> None:
        """Delete the messages in a group that got a new id. Agents can no longer reply to them."""
        await self._change(delete(ticket_posts).where(ticket_posts.c.chat_id == chat_id))

    def _to_value(self, known: dict[str, Any]) -> BotMessage:
        return BotMessage(**{**known, "role": BotMessageRole(known["role"])})


def _of_role(ticket: str, role: BotMessageRole) -> Select[Any]:
    return select(ticket_posts).where(ticket_posts.c.ticket == ticket, ticket_posts.c.role == role)


def _is_message(chat_id: int, message_id: int) -> ColumnElement[bool]:
    return (ticket_posts.c.chat_id == chat_id) & (ticket_posts.c.message_id == message_id)


def _is_of_topic(chat_id: int, topic_id: int) -> ColumnElement[bool]:
    return (ticket_posts.c.chat_id == chat_id) & (ticket_posts.c.topic_id == topic_id)


class RevealRepository(Repository[Reveal]):
    """Read and write reveals. They are saved, so that a restarted bot can mask them."""

    table, kind = reveals, Reveal

    async def add(self, reveal: Reveal) -> None:
        """Insert a reveal."""
        await self._insert(reveal)

    async def get(self, reveal_id: str) -> Reveal | None:
        """Return the reveal of this id."""
        return await self._find_first(select(reveals).where(reveals.c.id == reveal_id))

    async def save(self, reveal: Reveal) -> None:
        """Insert or replace a reveal."""
        await self._replace(reveal)

    async def unmasked(self) -> tuple[Reveal, ...]:
        """Return the reveals that aren't masked yet, the first to end first."""
        return await self._find(select(reveals).where(IS_REVEALED).order_by(reveals.c.until))


class SavedReplyRepository(Repository[SavedReply]):
    """Read and write saved replies."""

    table, kind = saved_replies, SavedReply

    async def all(self) -> tuple[SavedReply, ...]:
        """Return all saved replies, by name."""
        return await self._find(select(saved_replies).order_by(saved_replies.c.name))

    async def get(self, name: str) -> SavedReply | None:
        """Return the saved reply with this name."""
        return await self._find_first(select(saved_replies).where(saved_replies.c.name == name))

    async def save(self, reply: SavedReply) -> None:
        """Insert or replace a saved reply."""
        await self._replace(reply)

    async def delete(self, name: str) -> bool:
        """Delete a saved reply, and return whether it existed."""
        return await self._change(delete(saved_replies).where(saved_replies.c.name == name)) == 1
