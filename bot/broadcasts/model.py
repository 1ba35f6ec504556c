"""Broadcasts and their deliveries: what is said to whom and when, and when an operator has to confirm it again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, Protocol, Self

from bot.core import templates
from bot.core.locales import LOCALES
from bot.infra.outbox.model import DeliveryOutcome
from bot.settlement.model import Quote

CHART: Final = "chart:"
PERIODS: Final = ("day", "week", "month")

VARIABLES: Final = ("rate", "usdc", "sats_100k", "sats_1m", "fee", "time", "source")
"""What a text can show: rupiah for a bitcoin and for a USDC, the sats for 100,000 and for 1,000,000 rupiah, the fee,
and the quote's time and source."""

SUM_VARIABLES: Final = {"sats_100k": 100_000, "sats_1m": 1_000_000}
"""Variables that are sats -> for how many rupiah."""

WIDEST_QUOTE: Final = Quote(
    Decimal("88888888888.88"), datetime(2028, 12, 28, 22, 58, tzinfo=UTC), Decimal("888888.88"), "W" * 24
)
"""A quote that takes more room than any real one: what fits with it fits when it is sent."""

MAX_DELAY: Final = timedelta(hours=2)
"""A broadcast that couldn't begin for so long, because the bot didn't run, waits for an operator."""

QUOTE_WAIT: Final = timedelta(minutes=5)
"""So long a broadcast waits for a fresh quote before it asks an operator."""


class BroadcastWarning(StrEnum):
    """Why a broadcast isn't sent before an operator has confirmed it again. The values are in buttons."""

    STALE = "s"
    JUMPED = "j"
    LATE = "l"
    NO_QUOTE = "n"


class BroadcastStatus(StrEnum):
    """Where a broadcast is."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"  # confirmed, to begin at `starts_at`
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"
    DISCARDED = "discarded"


class DeliveryStatus(StrEnum):
    """The result of a broadcast for one reader."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    DELIVERED = "delivered"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNKNOWN = "unknown"  # may have arrived, may not: sent again only if an operator says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """To whom it goes: all subscribers, or those who read `locale`, or those seen in the last `active_days` days."""

    locale: str | None = None
    active_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """One broadcast, from its draft to its report.

    Attributes:
        texts: locale -> template in Telegram's HTML; an empty one stands for the default text.
        picture: a photo's file id at Telegram, or "chart:day" (week, month) for the rate's chart, or None.
        quote: fixed at the confirmation, so all readers get the same numbers.
        daily_minute: the minute of the day of a daily broadcast. It is confirmed once, and creates one a day.
        series: the id of the daily broadcast that created this one.
        chat_id, message_id: the live message of its progress.
        report: `DeliveryStatus` -> count of deliveries, saved at its end. Users who are deleted later leave the ledger.
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
    chat_id: int | None = None
    message_id: int | None = None
    report: Mapping[str, int] | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that its audience reads."""
        return tuple(LOCALES) if self.audience.locale is None else (self.audience.locale,)

    @property
    def needs_quote(self) -> bool:
        """Return whether it shows a quote: in the default text, in a variable, or in the rate's chart."""
        texts = [self.texts.get(locale) for locale in self.languages]
        return self.chart_period is not None or any(not text or has_variables(text) for text in texts)

    @property
    def chart_period(self) -> str | None:
        """Return the period of the rate's chart (one of `PERIODS`), where that is its picture."""
        picture = self.picture or ""
        return picture.removeprefix(CHART) if picture.startswith(CHART) else None

    @property
    def is_for_later(self) -> bool:
        """Return whether it is a draft for a time to come: then its quote is taken when it begins."""
        is_timed = self.starts_at is not None or self.daily_minute is not None
        return self.status is BroadcastStatus.DRAFT and is_timed

    @property
    def is_waiting(self) -> bool:
        """Return whether its time had come and it waits for an operator. One paused later has been started."""
        return self.status is BroadcastStatus.PAUSED and self.started_at is None

    @property
    def can_be_confirmed(self) -> bool:
        """Return whether it waits for a confirmation, the first one or another."""
        return self.status is BroadcastStatus.DRAFT or self.is_waiting

    @property
    def can_be_cancelled(self) -> bool:
        """Return whether it is confirmed and was sent to nobody yet."""
        return self.started_at is None and self.status in {BroadcastStatus.SCHEDULED, BroadcastStatus.PAUSED}

    def with_text(self, locale: str, text: str | None) -> Self:
        """Return it with another text in one language; None is the default text."""
        others = {name: known for name, known in self.texts.items() if name != locale}
        return replace(self, texts=others if text is None else {**others, locale: text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row of the ledger, unique by (broadcast, user). `silent`, which isn't saved, is for quiet hours."""

    broadcast_id: str
    user_id: int
    locale: str
    status: DeliveryStatus = DeliveryStatus.WAITING
    at: datetime | None = None
    failure: str | None = None
    silent: bool = False


class BroadcastSender(Protocol):
    """Sends one broadcast to one reader."""

    async def send(self, broadcast: Broadcast, delivery: Delivery, on_request: Callable[[], None]) -> DeliveryOutcome:
        """Make one attempt. Call `on_request` right before the request: what is cancelled earlier wasn't sent."""
        ...


def read_template(html: str) -> str:
    """Return `html` (Telegram's, made of a message's entities) as a template. Raises as `templates.read` does."""
    return templates.read(html, VARIABLES)


def has_variables(template: str) -> bool:
    """Return whether the template shows anything of a quote."""
    return bool(templates.variables_in(template))


def calculate_change_percent(before: Quote, after: Quote) -> Decimal:
    """Return how far BTC/IDR has moved from one quote to another, in percent; negative is down."""
    return (after.btc_idr / before.btc_idr - 1) * 100 if before.btc_idr else Decimal("Infinity")


def find_warnings(
    quote: Quote, last: Quote | None, now: datetime, jump_percent: Decimal
) -> tuple[BroadcastWarning, ...]:
    """Return why this quote shouldn't be sent before another confirmation; `last` is that of the last broadcast."""
    found = [BroadcastWarning.STALE] if quote.is_stale(now) else []
    if last is not None and abs(calculate_change_percent(last, quote)) > jump_percent:
        found.append(BroadcastWarning.JUMPED)
    return tuple(found)


def estimate_duration(count: int, per_second: float) -> timedelta:
    """Return how long so many messages take at this rate."""
    return timedelta(seconds=count / per_second)
