"""What the use cases need of tickets in a database: the tickets, what was written in them, and where it stands."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.support.reply_times import TicketTimes
from bot.support.ticket import Ticket


class EntryKind(StrEnum):
    """Who writes to whom."""

    ASKED = "asked"  # the person to support
    ANSWER = "answer"  # support to the person
    NOTE = "note"  # support to itself: never leaves the staff's chats


class MediaKind(StrEnum):
    """What may come along with a text, or instead of one."""

    PHOTO = "photo"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What somebody wrote, wherever: `text` is HTML of ours with the formatting of theirs, None where there is none."""

    chat_id: int
    message_id: int
    text: str | None = field(default=None, repr=False)
    media: MediaKind | None = None
    file_id: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEntry:
    """One thing written in a ticket; `number` counts from 1 within it.

    `text` is HTML of ours, made of the message's own entities. The source is the message that it was read from, where
    edits are heard of; `message_id` is the copy in the person's chat (answers only), known once it was delivered.
    """

    ticket: str
    number: int
    kind: EntryKind
    author_id: int
    at: datetime
    text: str | None = field(default=None, repr=False)
    media: MediaKind | None = None
    file_id: str | None = field(default=None, repr=False)
    source_chat_id: int
    source_message_id: int
    message_id: int | None = None
    delivered_at: datetime | None = None
    failure: str | None = None
    edited_at: datetime | None = None
    withdrawn_at: datetime | None = None

    @property
    def id(self) -> str:
        """Its name in the database."""
        return f"{self.ticket}.{self.number}"


class PostRole(StrEnum):
    """What a message of the bot's has to do with a ticket."""

    TOPIC = "topic"  # the one that opened its topic, whose id it shares; `argument` is how the topic stands
    HEAD = "head"  # the card that everything else answers to, kept up to date
    ENTRY = "entry"  # what somebody wrote
    REMARK = "remark"  # what became of it
    QUESTION = "question"  # an answer to this one is for the bot: `argument` says what was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketPost:
    """A message of the bot's that belongs to a ticket, in a staff chat or in the person's: a reply to it does, too."""

    chat_id: int
    message_id: int
    ticket: str
    role: PostRole
    topic_id: int | None = None
    entry: int = 0
    argument: str = ""
    at: datetime


class TicketFilter(StrEnum):
    """Which tickets a list shows."""

    OPEN = "open"
    MINE = "mine"
    UNCLAIMED = "unclaimed"
    CLOSED = "closed"


class Tickets(Protocol):
    """Tickets; at most one is open for a person and an order (or for a person and none)."""

    async def add(self, ticket: Ticket) -> bool:
        """Keep a new one; False where the like is open already, or the reference is taken."""
        ...

    async def get(self, reference: str) -> Ticket | None: ...
    async def save(self, ticket: Ticket) -> Ticket | None:
        """Save over the same version and return it with the next one; None where somebody else has saved."""
        ...

    async def open_of(self, person_id: int, order_reference: str = "") -> Ticket | None:
        """The open one about this order, or about none."""
        ...

    async def of_person(self, person_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Ticket, ...]:
        """Open ones first, then the newest."""
        ...

    async def of_order(self, order_reference: str) -> tuple[Ticket, ...]:
        """Newest first."""
        ...

    async def listed(self, which: TicketFilter, staff_id: int, *, limit: int, offset: int) -> tuple[Ticket, ...]:
        """Old first; closed ones: the last closed first. `staff_id` is who "mine" are."""
        ...

    async def count(self, which: TicketFilter, staff_id: int) -> int: ...
    async def waiting(self, since: datetime) -> tuple[Ticket, ...]:
        """Open ones whose person has waited since then or longer, the longest first."""
        ...

    async def times(self, since: datetime, until: datetime) -> tuple[TicketTimes, ...]:
        """Of those opened within a time."""
        ...


class TicketEntries(Protocol):
    """What was written in tickets."""

    async def add(self, entry: TicketEntry) -> TicketEntry | None:
        """Keep it under the next number of its ticket; None where its source was taken in before."""
        ...

    async def get(self, ticket: str, number: int) -> TicketEntry | None: ...
    async def of_ticket(self, ticket: str) -> tuple[TicketEntry, ...]:
        """Oldest first."""
        ...

    async def of_source(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """What was made of this message."""
        ...

    async def save(self, entry: TicketEntry) -> None:
        """Keep what has changed of it: its text, its delivery, its times."""
        ...


class TicketPosts(Protocol):
    """Which messages of the bot's belong to which ticket, and where the staff's chat has moved to."""

    async def add(self, post: TicketPost) -> None: ...
    async def get(self, chat_id: int, message_id: int) -> TicketPost | None: ...
    async def head(self, ticket: str, chat_id: int) -> TicketPost | None:
        """The newest card of a ticket in a chat."""
        ...

    async def heads(self, ticket: str) -> tuple[TicketPost, ...]:
        """The newest card in each chat that has one."""
        ...

    async def of_entry(self, ticket: str, entry: int, chat_id: int) -> TicketPost | None:
        """Where an entry stands in a chat."""
        ...

    async def in_rooms(self, person_id: int) -> tuple[TicketPost, ...]:
        """Those of this person's tickets in support's chats, oldest first."""
        ...

    async def of_topic(self, chat_id: int, topic_id: int) -> str | None:
        """The ticket whose topic this is."""
        ...

    async def topic(self, ticket: str, chat_id: int) -> TicketPost | None:
        """The newest topic of a ticket in a chat."""
        ...

    async def topic_gone(self, chat_id: int, topic_id: int) -> None:
        """Somebody has deleted a topic, and all that stood in it."""
        ...

    async def current_chat(self, chat_id: int) -> int:
        """The id that a group has by now: it gets another one when it becomes a supergroup."""
        ...

    async def chat_moved(self, old: int, new: int) -> None:
        """Remember it, and take what is still to be told along; posts of the old chat can't be answered any more."""
        ...
