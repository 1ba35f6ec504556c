"""Tickets, their entries, the bot's messages that show them, and how they are measured.

A ticket is one subject of one user with support. It is open until support closes it. Users open tickets. The bot opens
one for a paid order that went wrong, and closes it if the order needs no help after all. Each change returns a changed
copy.
"""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Final, Self

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.orders.destinations.model import MIN_SAMPLES
from bot.orders.order import REFERENCE_ALPHABET
from bot.recipients.numbers import mask_number
from bot.users.model import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportRules:
    """The settings of support."""

    provider: Provider
    """Who runs the bot."""

    operator_ids: frozenset[int]
    """The operators. They are reminded if support doesn't reply after its reminder."""

    can_ask: bool
    """Whether users can ask for rupiah."""

    reopen_within: timedelta
    """How long after a ticket was closed its user can reopen it."""

    remind_after: timedelta
    """How long a ticket waits for a reply before support is reminded."""


PREFIX = "T-"
REFERENCE_LENGTH = 5


class Cause(StrEnum):
    """Why a ticket was opened."""

    ASKED = "asked"  # its user asked support
    FAILED = "failed"  # a paid order failed
    STUCK = "stuck"  # a paid order takes too long


class TicketStatus(StrEnum):
    """Whether a ticket is open."""

    OPEN = "open"
    CLOSED = "closed"


class CloseReason(StrEnum):
    """Why support closed a ticket. Its user sees the reason."""

    SOLVED = "solved"
    NO_REPLY = "no_word"  # the user stopped answering
    DUPLICATE = "double"  # another ticket is about the same
    ELSEWHERE = "elsewhere"  # a bank or a wallet has to solve it


class Rating(StrEnum):
    """How the user rates the help."""

    GOOD = "good"
    BAD = "bad"


class TicketClosed(Rejection):
    """The ticket is closed, so nothing can be added to it."""

    def __init__(self) -> None:
        super().__init__("support.ticket.closed")


class TicketHeldByAnother(Rejection):
    """Another agent holds the ticket."""

    def __init__(self) -> None:
        super().__init__("support.ticket.held_by_another")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One subject of one user with support.

    Attributes:
        order_reference: the order that the ticket is about. Empty if it is about none.
        waiting_since: when the user wrote the oldest message without a reply, or when the order failed.
        reminded_at: when support was reminded of this wait.
        escalated_at: when operators were reminded of this wait.
        paused_until: until when its agent has set it aside. It comes back earlier if its order moves. None: it isn't.
        paused_status: the status of its order when it was set aside, "" if it is about none.
        closed_by: who closed it. None if it is open, or if the bot closed it.
        has_payee: whether its user has sent what could be paid, such as an invoice.
    """

    reference: str
    user_id: int
    order_reference: str = ""
    cause: Cause = Cause.ASKED
    status: TicketStatus = TicketStatus.OPEN
    created_at: datetime
    version: int = 0
    claimed_by: int | None = None
    claimed_at: datetime | None = None
    waiting_since: datetime | None = None
    reminded_at: datetime | None = None
    escalated_at: datetime | None = None
    paused_until: datetime | None = None
    paused_status: str | None = None
    first_reply_at: datetime | None = None
    closed_at: datetime | None = None
    closed_by: int | None = None
    close_reason: CloseReason | None = None
    reopen_count: int = 0
    rating: Rating | None = None
    rated_at: datetime | None = None
    has_payee: bool = False

    @classmethod
    def open(cls, user_id: int, now: datetime, *, order_reference: str = "", cause: Cause = Cause.ASKED) -> Self:
        """Return a new ticket. It waits for a reply from now on."""
        return cls(
            reference=new_ticket_reference(),
            user_id=user_id,
            order_reference=order_reference,
            cause=cause,
            created_at=now,
            waiting_since=now,
        )

    @property
    def is_open(self) -> bool:
        """Whether support hasn't closed the ticket."""
        return self.status is TicketStatus.OPEN

    @property
    def close_key(self) -> str:
        """Why a closed ticket was closed, as keys of texts end: "itself" if the bot closed it."""
        return "itself" if self.closed_by is None else str(self.close_reason or CloseReason.SOLVED)

    @property
    def log_fields(self) -> Mapping[str, str]:
        """What log lines about the ticket say: its reference, and that of its order."""
        return {"ticket": self.reference, **({"order": self.order_reference} if self.order_reference else {})}

    def can_be_reopened(self, now: datetime, within: timedelta) -> bool:
        """Return whether the user can reopen the ticket. `within` is how long after it was closed they can."""
        return not self.is_open and self.closed_at is not None and now < self.closed_at + within

    def add_message(self, now: datetime) -> Self:
        """Return the ticket after another message of its user.

        A user who already waits keeps waiting since their first message. A ticket that was set aside comes back, to its
        agent first.

        Raises:
            TicketClosed: it has to be reopened first.
        """
        self._check_is_open()
        back = self
        if self.paused_until is not None:
            back = replace(self, paused_until=None, paused_status=None, claimed_at=now)
        return back if self.waiting_since else replace(back, waiting_since=now, reminded_at=None, escalated_at=None)

    def come_back(self, now: datetime) -> Self:
        """Return the ticket after the end of its pause. The line that says so is support's reminder."""
        return replace(self.add_message(now), reminded_at=now, escalated_at=None)

    def pause(self, by: int, until: datetime, status: str, now: datetime) -> Self:
        """Return the ticket set aside until a time, or until its order has another status. Raise as `claim` does."""
        return replace(self.claim(by, now), paused_until=until, paused_status=status)

    def claim(self, by: int, now: datetime) -> Self:
        """Return the ticket claimed by the agent `by`, who may hold it already.

        Raises:
            TicketClosed: it can't be claimed.
            TicketHeldByAnother: another agent was faster.
        """
        self._check_is_open()
        if self.claimed_by is not None and self.claimed_by != by:
            raise TicketHeldByAnother
        return self if self.claimed_by == by else replace(self, claimed_by=by, claimed_at=now)

    def take_over(self, by: int, now: datetime) -> Self:
        """Return the ticket after `by` has taken it over from another agent.

        Raises:
            TicketClosed: it has to be reopened first.
        """
        self._check_is_open()
        return replace(self, claimed_by=by, claimed_at=now)

    def record_reply(self, by: int, now: datetime) -> Self:
        """Return the ticket after a reply of `by`. The reply claims an unclaimed ticket. Raise as `claim` does."""
        claimed = self.claim(by, now)
        first = claimed.first_reply_at or now
        return replace(claimed, first_reply_at=first, waiting_since=None, reminded_at=None, escalated_at=None)

    def close(self, by: int, reason: CloseReason, now: datetime) -> Self:
        """Return the ticket closed by `by`. Raise as `claim` does."""
        return replace(self.claim(by, now).close_by_bot(now), closed_by=by, close_reason=reason)

    def close_by_bot(self, now: datetime) -> Self:
        """Return the ticket closed by the bot, because the rupiah of its order were sent."""
        return replace(
            self,
            status=TicketStatus.CLOSED,
            closed_at=now,
            close_reason=CloseReason.SOLVED,
            waiting_since=None,
            paused_until=None,
            paused_status=None,
        )

    def reopen(self, now: datetime, within: timedelta) -> Self:
        """Return the ticket open again. Its agent stays the same.

        Raises:
            Rejection: the ticket was closed longer ago than `within`, or it is open.
        """
        if not self.can_be_reopened(now, within):
            raise Rejection("support.ticket.open_already" if self.is_open else "support.ticket.closed_too_long_ago")
        return replace(
            self,
            status=TicketStatus.OPEN,
            closed_at=None,
            closed_by=None,
            close_reason=None,
            waiting_since=now,
            reminded_at=None,
            escalated_at=None,
            reopen_count=self.reopen_count + 1,
            rating=None,
            rated_at=None,
        )

    def rate(self, rating: Rating, now: datetime) -> Self:
        """Return the ticket with its user's rating. The last rating counts.

        Raises:
            Rejection: the ticket is open.
        """
        if self.is_open:
            raise Rejection("support.ticket.still_open")
        return replace(self, rating=rating, rated_at=now)

    def _check_is_open(self) -> None:
        if not self.is_open:
            raise TicketClosed


def new_ticket_reference() -> str:
    """Return a random reference, such as "T-4F7K2". It looks different from an order's reference."""
    return PREFIX + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))


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

    @property
    def has_payee(self) -> bool:
        """Whether its text has an invoice or an address."""
        return self.text is not None and _mask_payees(self.text) != self.text


TAG: Final = re.compile(r"<[^>]*>")
_PAYEE: Final = re.compile(
    r"(?<![a-z0-9])(?:ln(?:bc|tb|sb)[a-z0-9]{40,}|ln(?:url|o)1[a-z0-9]{20,}|(?:bc|tb)1[a-z0-9]{20,}"
    r"|(?-i:[13T](?=\w*[a-z])(?=\w*[A-Z])[1-9A-HJ-NP-Za-km-z]{25,34})(?![a-z0-9])"
    r"|0x[a-f0-9]{40}(?![a-f0-9])|[a-z0-9._+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})",
    re.IGNORECASE | re.ASCII,
)
"""What could be paid: an invoice, an offer, LNURL, an address of bitcoin or of a token (also on Tron), a Lightning
address.

A transaction's id is none: it has more digits than an address.
"""


def _mask_payee(found: re.Match[str]) -> str:
    """Return both ends of an invoice or an address. Of a Lightning address a letter stays: its domain is no mention."""
    whole = found[0]
    return f"{whole[0]}…@…" if "@" in whole else f"{whole[:4]}…{whole[-4:]}"


def _mask_payees(html: str) -> str:
    """Return a text without what could be paid. If part of that was formatted, all formatting is lost."""
    masked = _PAYEE.sub(_mask_payee, html)
    words = TAG.sub("", masked)
    return _PAYEE.sub(_mask_payee, words) if _PAYEE.search(words) else masked


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

    @property
    def masked_text(self) -> str | None:
        """The text as staff see it: nobody can pay the invoices and addresses in it."""
        return self.text and _mask_payees(self.text)


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


@dataclass(frozen=True, slots=True)
class TicketTimes:
    """The times and the rating of one ticket."""

    created_at: datetime
    first_reply_at: datetime | None
    closed_at: datetime | None
    rating: Rating | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketStatistics:
    """The tickets opened within a period: counts, median times, and ratings. A median of nothing is None."""

    opened: int = 0
    replied: int = 0
    closed: int = 0
    first_reply: timedelta | None = None
    close: timedelta | None = None
    good: int = 0
    bad: int = 0

    @property
    def typical_reply(self) -> timedelta | None:
        """The median time to the first reply, or None if there are too few replies."""
        return self.first_reply if self.replied >= MIN_SAMPLES else None


def measure_tickets(tickets: Iterable[TicketTimes]) -> TicketStatistics:
    """Return the statistics of these tickets."""
    known = list(tickets)
    answers = [each.first_reply_at - each.created_at for each in known if each.first_reply_at]
    ends = [each.closed_at - each.created_at for each in known if each.closed_at]
    ratings = [each.rating for each in known]
    return TicketStatistics(
        opened=len(known),
        replied=len(answers),
        closed=len(ends),
        first_reply=_median(answers),
        close=_median(ends),
        good=ratings.count(Rating.GOOD),
        bad=ratings.count(Rating.BAD),
    )


def _median(times: list[timedelta]) -> timedelta | None:
    return timedelta(seconds=median(time.total_seconds() for time in times)) if times else None


SHOWN_FOR: Final = timedelta(minutes=1)
MIN_REASON, MAX_REASON = 3, 200
"""Characters of a reason."""

_ACCOUNT_NUMBER: Final = re.compile(r"\d(?:[ .-]?\d){5,}")
"""What can be an account number. Readers of the audit log need only its last digits."""


class Reason(StrEnum):
    """The usual reasons. Agents can type another."""

    COMPARE = "compare"  # the user says or shows where the payout should have gone
    WRONG = "wrong"  # the user says that the number was wrong
    TRACE = "trace"  # the bank or the service asks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """A full recipient that a support agent sees in their private chat, until it is masked."""

    id: str
    reference: str
    staff_id: int
    message_id: int | None = None
    at: datetime
    until: datetime
    masked_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Return whether the recipient has to be masked now. It also has to if the clock was set back since."""
        return not self.at <= now < self.until


def read_reason(typed: str) -> str:
    """Return a typed reason for the audit log: one line, with account numbers masked.

    Raises:
        Rejection: the reason is too short or too long.
    """
    reason = _ACCOUNT_NUMBER.sub(lambda found: mask_number(re.sub(r"\D", "", found[0])), plain(typed))
    if len(reason) < MIN_REASON or not any(map(str.isalpha, reason)):
        raise Rejection("support.reveal.reason_too_short")
    if len(reason) > MAX_REASON:
        raise Rejection("support.reveal.reason_too_long", longest=MAX_REASON)
    return reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """A saved reply. `texts` are by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int
