"""The kinds of notification about tickets, and their payloads. None holds what anybody wrote."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.infra.outbox.model import NotificationKind


class Remark(StrEnum):
    """What there is to remark about an entry."""

    REPLIED = "replied"  # in another chat than this one
    NOTED = "noted"  # likewise
    TAKEN_OVER = "taken_over"  # the entry is the note that came along
    DELIVERED = "delivered"
    FAILED = "failed"
    CORRECTED = "corrected"  # the user's copy is as the edited reply
    CORRECTION_FAILED = "correction_failed"
    TAKEN_BACK = "taken_back"  # the user's copy is deleted
    BLANKED = "blanked"  # too old to be deleted: its words were taken out
    UNSENT = "unsent"  # taken back before it was sent
    MAYBE_SENT = "maybe_sent"  # taken back while nobody knows whether it has arrived
    TAKING_BACK_FAILED = "taking_back_failed"


@dataclass(frozen=True, slots=True)
class AboutTicket:
    """The ticket, by its reference."""

    ticket: str


@dataclass(frozen=True, slots=True)
class AboutEntry(AboutTicket):
    """One thing written in the ticket, by its number."""

    entry: int


@dataclass(frozen=True, slots=True)
class UserEntry(AboutEntry):
    """What the user wrote. `ping` is the agent who is mentioned, 0 for none."""

    ping: int = 0


@dataclass(frozen=True, slots=True)
class EntryRemark(AboutEntry):
    """One line about an entry: what happened, who did it, who held the ticket before, and why it failed."""

    what: Remark
    by: int = 0
    before: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class TicketStep(AboutTicket):
    """What the user or their order did with the ticket. `ping` is the agent who is mentioned, 0 for none."""

    what: str
    ping: int = 0


@dataclass(frozen=True, slots=True)
class TicketWait(AboutTicket):
    """Since when the ticket waits for a reply."""

    since: datetime


@dataclass(frozen=True, slots=True)
class DeletedTicket(AboutTicket):
    """What a chat of staff shows of a ticket that no longer exists."""

    chat: int
    topics: tuple[int, ...]
    messages: tuple[int, ...]


class StaffNotification(NotificationKind):
    """Notifications about tickets, for the chats in which support works."""

    NEW_CARD = "ticket_head", AboutTicket  # opens the topic (or the thread of replies) with the card
    CARD = "ticket_card", AboutTicket  # the card has changed
    ENTRY = "ticket_entry", UserEntry  # the user wrote something
    EDITED = "ticket_entry_edited", UserEntry  # the user has changed what they wrote
    STEP = "ticket_step", TicketStep  # the user or the order has changed the ticket, and somebody should look
    REMARK = "ticket_remark", EntryRemark  # what became of something, in one line
    WAITS = "ticket_waits", TicketWait  # nobody has replied for too long
    WAITS_LONG = "ticket_waits_long", TicketWait  # nor after that was said: for the operators
    DELETED = "ticket_forgotten", DeletedTicket  # its user was deleted: what is shown of it here goes


class TicketNotification(NotificationKind):
    """Notifications for the user of a ticket."""

    OPENED = "ticket_opened", AboutTicket  # one was opened automatically
    REPLY = "ticket_reply", AboutEntry
    REPLY_EDITED = "ticket_reply_edited", AboutEntry
    REPLY_WITHDRAWN = "ticket_reply_withdrawn", AboutEntry
    CLOSED = "ticket_closed", AboutTicket
