"""The kinds of notification about tickets, and their payloads. No payload contains a message's text."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.infra.outbox.model import NotificationKind


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


@dataclass(frozen=True, slots=True)
class AboutTicket:
    """The reference of the ticket."""

    ticket: str


@dataclass(frozen=True, slots=True)
class AboutEntry(AboutTicket):
    """The number of an entry of the ticket."""

    entry: int


@dataclass(frozen=True, slots=True)
class UserEntry(AboutEntry):
    """An entry that the user wrote. `ping` is the agent to mention, 0 for none."""

    ping: int = 0


@dataclass(frozen=True, slots=True)
class EntryRemark(AboutEntry):
    """What happened to an entry, who did it, who held the ticket before, and why it failed."""

    what: Remark
    by: int = 0
    before: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class TicketStep(AboutTicket):
    """What the user or their order changed in the ticket. `ping` is the agent to mention, 0 for none."""

    what: str
    ping: int = 0


@dataclass(frozen=True, slots=True)
class TicketWait(AboutTicket):
    """Since when the ticket waits for a reply."""

    since: datetime


@dataclass(frozen=True, slots=True)
class DeletedTicket(AboutTicket):
    """The topics and messages of a deleted ticket in a chat of staff."""

    chat: int
    topics: tuple[int, ...]
    messages: tuple[int, ...]


class StaffNotification(NotificationKind):
    """Notifications about tickets, for the chats in which support works."""

    NEW_CARD = "ticket_head", AboutTicket  # the card of a new ticket, in its topic
    CARD = "ticket_card", AboutTicket  # the card has changed
    ENTRY = "ticket_entry", UserEntry  # the user wrote something
    EDITED = "ticket_entry_edited", UserEntry  # the user edited an entry
    STEP = "ticket_step", TicketStep  # the user or the order changed the ticket
    REMARK = "ticket_remark", EntryRemark  # what happened to an entry, in one line
    ASK_TO_SEND = "ticket_ask", AboutEntry  # whether the user should get what an agent wrote in the conversation
    WAITS = "ticket_waits", TicketWait  # for support: the user has waited too long
    WAITS_LONG = "ticket_waits_long", TicketWait  # for operators: support didn't reply after its reminder
    DELETED = "ticket_forgotten", DeletedTicket  # its user was deleted, so its messages are deleted


class TicketNotification(NotificationKind):
    """Notifications for the user of a ticket."""

    REPLY = "ticket_reply", AboutEntry
    REPLY_EDITED = "ticket_reply_edited", AboutEntry
    REPLY_WITHDRAWN = "ticket_reply_withdrawn", AboutEntry
    CLOSED = "ticket_closed", AboutTicket
