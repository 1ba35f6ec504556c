"""The entries of tickets, and the bot's messages that show them."""

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
    NOTE = "note"  # support to itself: users never see it
    UNDECIDED = "undecided"  # an agent in the ticket's conversation, who hasn't said yet whether it is for the user


class MediaKind(StrEnum):
    """A picture or a file in a message, with or without text."""

    PHOTO = "photo"
    DOCUMENT = "document"
    RISKY_DOCUMENT = "risky_document"
    """A file that can hold a program or a web page. Staff are warned before they open it."""

    @property
    def is_file(self) -> bool:
        """Whether it is sent as a file, and not as a picture."""
        return self is not MediaKind.PHOTO


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """The content of a message to the bot. `text` is HTML with the sender's formatting."""

    chat_id: int
    message_id: int
    text: str | None = field(default=None, repr=False)
    media: MediaKind | None = None
    file_id: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEntry:
    """One message in a ticket: of its user, or of support.

    Attributes:
        number: counts from 1 within the ticket.
        text: HTML with the sender's formatting.
        source_chat_id: the chat of the original message. Telegram reports edits of that message.
        source_message_id: the original message.
        message_id: the copy in the user's chat. Only a delivered reply has one.
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
        """The key in the database."""
        return f"{self.ticket}.{self.number}"


class BotMessageRole(StrEnum):
    """What a message of the bot is for in a ticket."""

    TOPIC = "topic"  # opened the topic and has its id; `argument` is the status that the topic shows
    CARD = "head"  # the ticket's first message, with its status; it is kept up to date
    ENTRY = "entry"  # shows an entry, or several up to it: then `argument` is the number of the first
    REMARK = "remark"  # reports what happened to an entry
    QUESTION = "question"  # asks an agent something; `argument` is the question


NOTE: Final = "note"
"""The question whose answers are notes."""

SEND: Final = "send"
"""The question whether to send to the user what an agent wrote. Its argument is the number of the newest entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotMessage:
    """A message of the bot that belongs to a ticket. A reply to it belongs to the ticket, too."""

    chat_id: int
    message_id: int
    ticket: str
    role: BotMessageRole
    topic_id: int | None = None
    entry: int = 0
    argument: str = ""
    at: datetime

    @property
    def link(self) -> str | None:
        """The link to the message, for members of its supergroup. None in other chats."""
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
