"""Broadcasts, the results of their messages, and the warnings that an operator has to accept."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, Self

from bot.core import templates
from bot.core.locales import LOCALES
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationKind, Queue
from bot.settlement.model import Quote
from bot.staff.audit import AuditTerms, name_as_written, record_audit
from bot.staff.model import AuditAction

CHART: Final = "chart:"
PERIODS: Final = ("day", "week", "month")

VARIABLES: Final = ("rate", "usdc", "sats_100k", "sats_1m", "fee", "time", "source")
"""Variables of a text: rupiah for one bitcoin and for one USDC, sats for 100,000 and for 1,000,000 rupiah, the fee,
and the quote's time and source."""

SUM_VARIABLES: Final = {"sats_100k": 100_000, "sats_1m": 1_000_000}
"""Variable that shows sats -> the sum in rupiah."""

WIDEST_QUOTE: Final = Quote(
    Decimal("88888888888.88"), datetime(2028, 12, 28, 22, 58, tzinfo=UTC), Decimal("888888.88"), "W" * 24
)
"""A quote that is longer than any real one. A message that fits with it fits with every quote."""

MAX_DELAY: Final = timedelta(hours=2)
"""A broadcast that is later than this waits for an operator. The bot wasn't running at its time."""

QUOTE_WAIT: Final = timedelta(minutes=5)
"""How long a broadcast waits for a fresh quote before operators are asked."""


class BroadcastWarning(StrEnum):
    """Why an operator has to confirm a broadcast again. Buttons contain the values."""

    STALE = "s"
    JUMPED = "j"
    LATE = "l"
    NO_QUOTE = "n"


class BroadcastStatus(StrEnum):
    """The status of a broadcast."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"  # confirmed, starts at `starts_at`
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"
    DISCARDED = "discarded"


class DeliveryStatus(StrEnum):
    """The result of a broadcast for one reader."""

    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNKNOWN = "unknown"  # may have arrived, so only an operator can have it sent again


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who gets a broadcast: subscribers who read `locale` and were active in the last `active_days` days.

    None means all subscribers.
    """

    locale: str | None = None
    active_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """One broadcast, from its draft to its report.

    Attributes:
        texts: locale -> template in Telegram's HTML. A locale without a text gets the default text.
        picture: a file id at Telegram, or "chart:day" (week, month) for the rate's chart, or None.
        quote: fixed at the confirmation, so all readers get the same numbers.
        daily_minute: the minute of the day of a daily broadcast. It is confirmed once, and creates a broadcast each
            day.
        series: the id of the daily broadcast that created this one.
        size: how many readers it had at its start.
        next_reader: the lowest id of a user for whom no message is in the outbox yet. None before the start, and once
            all are.
        chat_id, message_id: the live message of its progress.
        report: `DeliveryStatus` -> count, saved at the end. The messages are deleted later.
    """

    id: str
    operator_id: int
    status: BroadcastStatus = BroadcastStatus.DRAFT
    revision: int = 0
    is_rate: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    picture: str | None = None
    audience: Audience = Audience()
    quote: Quote | None = None
    starts_at: datetime | None = None
    daily_minute: int | None = None
    series: str | None = None
    created_at: datetime
    confirmed_at: datetime | None = None
    confirmed_by: int | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    size: int = 0
    next_reader: int | None = None
    chat_id: int | None = None
    message_id: int | None = None
    report: Mapping[str, int] | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the audience reads."""
        return tuple(LOCALES) if self.audience.locale is None else (self.audience.locale,)

    @property
    def needs_quote(self) -> bool:
        """Whether the broadcast shows a quote: in the default text, in a variable, or in the rate's chart."""
        texts = [self.texts.get(locale) for locale in self.languages]
        return self.chart_period is not None or any(not text or has_variables(text) for text in texts)

    @property
    def chart_period(self) -> str | None:
        """The period of the rate's chart (one of `PERIODS`); None if the picture isn't a chart."""
        picture = self.picture or ""
        return picture.removeprefix(CHART) if picture.startswith(CHART) else None

    @property
    def is_for_later(self) -> bool:
        """Whether this is a draft for a later time. Its quote is read when it starts."""
        is_timed = self.starts_at is not None or self.daily_minute is not None
        return self.status is BroadcastStatus.DRAFT and is_timed

    @property
    def is_waiting(self) -> bool:
        """Whether the broadcast is due and waits for an operator. A broadcast that was paused later has started."""
        return self.status is BroadcastStatus.PAUSED and self.started_at is None

    @property
    def can_be_confirmed(self) -> bool:
        """Whether the broadcast waits for its first or for another confirmation."""
        return self.status is BroadcastStatus.DRAFT or self.is_waiting

    @property
    def can_be_cancelled(self) -> bool:
        """Whether the broadcast is confirmed and hasn't started."""
        return self.started_at is None and self.status in {BroadcastStatus.SCHEDULED, BroadcastStatus.PAUSED}

    def with_text(self, locale: str, text: str | None) -> Self:
        """Return a copy with another text in one language. None selects the default text."""
        others = {name: known for name, known in self.texts.items() if name != locale}
        return replace(self, texts=others if text is None else {**others, locale: text})


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a broadcast is.

    `per_second` is the recent rate. `is_resting` is True while Telegram makes the bot wait.
    """

    broadcast: Broadcast
    counts: Mapping[DeliveryStatus, int]
    per_second: float = 0.0
    is_resting: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the progress stays the same unless an operator changes something."""
        return self.broadcast.ended_at is not None


SUBJECT: Final = "broadcast:"
"""The beginning of the subjects of notifications about a broadcast."""

MAYBE_ARRIVED: Final = "it may have arrived"
"""The failure of a message whose result is unknown."""

CHAT_BLOCKED: Final = "it is blocked"
"""The failure of a message to a user who blocked the bot."""


@dataclass(frozen=True, slots=True)
class BroadcastMessage:
    """The id of the broadcast that is sent."""

    broadcast: str


@dataclass(frozen=True, slots=True)
class WaitingBroadcast:
    """The id of the broadcast that waits, and why. Saved rows name the warnings `doubts`."""

    broadcast: str
    doubts: tuple[BroadcastWarning, ...]


class BroadcastNotification(NotificationKind):
    """Notifications of broadcasts: the message to each reader, and a question to operators."""

    MESSAGE = "broadcast", BroadcastMessage, Queue.BULK
    WAITS = "broadcast_waits", WaitingBroadcast


def read_template(html: str) -> str:
    """Return a message's HTML as a template. Raise what `templates.read` raises."""
    return templates.read(html, VARIABLES)


def has_variables(template: str) -> bool:
    """Return whether the template has variables of a quote."""
    return bool(templates.find_variables(template))


def calculate_change_percent(before: Quote, after: Quote) -> Decimal:
    """Return how far BTC/IDR has moved between two quotes, in percent. A fall is negative."""
    return (after.btc_idr / before.btc_idr - 1) * 100 if before.btc_idr else Decimal("Infinity")


def find_warnings(
    quote: Quote, last: Quote | None, now: datetime, jump_percent: Decimal
) -> tuple[BroadcastWarning, ...]:
    """Return why this quote needs another confirmation. `last` is the quote of the last broadcast."""
    found = [BroadcastWarning.STALE] if quote.is_stale(now) else []
    if last is not None and abs(calculate_change_percent(last, quote)) > jump_percent:
        found.append(BroadcastWarning.JUMPED)
    return tuple(found)


def estimate_duration(count: int, per_second: float) -> timedelta:
    """Return how long it takes to send so many messages at this rate."""
    return timedelta(seconds=count / per_second)


CONFIRMED: Final = "confirmed"
CANCELLED: Final = "called_off"
RETRIED: Final = "again"

AUDIT_TERMS: Final = AuditTerms(
    subjects={"broadcast": name_as_written},
    details=frozenset({CONFIRMED, CANCELLED, RETRIED, "running", "paused", "stopped"}),
)


async def record_decision(tx: Transaction, by: int, broadcast_id: str, decision: str, now: datetime) -> None:
    """Record in this transaction what the operator `by` decided about a broadcast."""
    await record_audit(tx, by, AuditAction.BROADCAST, f"broadcast:{broadcast_id}", now, detail=decision)


PAGE_SIZE: Final = 5


@dataclass(frozen=True, slots=True)
class BroadcastPage:
    """Some confirmed broadcasts, newest first, with the counts of their deliveries.

    `offset` is the number of newer broadcasts.
    """

    broadcasts: tuple[Broadcast, ...]
    counts: Mapping[str, Mapping[DeliveryStatus, int]]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent: the broadcast with its quote, its readers by language, and warnings.

    `last` is the quote of the last broadcast. A jump of the rate is measured from it.
    """

    broadcast: Broadcast
    readers: Mapping[str, int]
    duration: timedelta
    warnings: tuple[BroadcastWarning, ...] = ()
    last: Quote | None = None

    @property
    def size(self) -> int:
        """The number of readers."""
        return sum(self.readers.values())
