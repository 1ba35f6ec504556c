"""What the use cases need of tickets in a database: the tickets, what was written in them, and where it stands."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
