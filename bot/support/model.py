"""What is written in tickets, and the messages in which it is shown."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

SUPERGROUP: Final = "-100"
"""How the ids of supergroups begin."""


class EntryKind(StrEnum):
    """Who writes to whom."""

    ASKED = "asked"  # the user to support
    REPLY = "reply"  # support to the user
    NOTE = "note"  # support to itself: it never leaves the chats of staff


class MediaKind(StrEnum):
    """What a message can have beside its text, or instead of one."""

    PHOTO = "photo"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """What a message to the bot says; `text` is HTML with the sender's formatting, None if there is none."""

    chat_id: int
    message_id: int
    text: str | None = field(default=None, repr=False)
    media: MediaKind | None = None
    file_id: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEntry:
    """One thing that was written in a ticket.

    Attributes:
        number: counts from 1 within the ticket.
        text: HTML, made of the message's own entities.
        source_chat_id: the chat of the message that it was read from; Telegram reports edits of that message.
        source_message_id: that message.
        message_id: the copy in the user's chat (replies only), known once it was delivered.
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
        """Return its key in the database."""
        return f"{self.ticket}.{self.number}"


class PostRole(StrEnum):
    """What a message of the bot has to do with a ticket."""

    TOPIC = "topic"  # opened its topic, whose id it shares; `argument` is the status that the topic shows
    CARD = "head"  # the card that everything else replies to, kept up to date
    ENTRY = "entry"  # what somebody wrote
    REMARK = "remark"  # what became of that
    QUESTION = "question"  # a reply to it is for the bot; `argument` says what was asked


NOTE: Final = "note"
"""The question of a post to which every reply is a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketPost:
    """A message of the bot that belongs to a ticket, in a chat of staff or of the user. A reply to it does, too."""

    chat_id: int
    message_id: int
    ticket: str
    role: PostRole
    topic_id: int | None = None
    entry: int = 0
    argument: str = ""
    at: datetime

    @property
    def link(self) -> str | None:
        """Return the link to the message for members of its group; None outside of supergroups."""
        chat = str(self.chat_id)
        if not chat.startswith(SUPERGROUP):
            return None
        topic = (self.topic_id,) if self.topic_id else ()
        return "/".join(map(str, ("https://t.me/c", chat.removeprefix(SUPERGROUP), *topic, self.message_id)))


class TicketFilter(StrEnum):
    """Which tickets a list shows."""

    OPEN = "open"
    MINE = "mine"
    UNCLAIMED = "unclaimed"
    CLOSED = "closed"
