"""What is kept of broadcasts: what is to be said to whom, and the ledger of deliveries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.infra.outbox.model import DeliveryOutcome
from bot.settlement.model import Quote


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
    """What became of a broadcast for one person."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    DELIVERED = "delivered"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNKNOWN = "unknown"  # may have arrived, may not: sent again only at an operator's word


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """To whom: all subscribers, or those reading `locale`, or those seen in the last `active_days` days."""

    locale: str | None = None
    active_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """One broadcast, from its drafting to its report.

    `texts` are templates in Telegram's HTML by locale; empty ones stand for the default text. `picture` is a photo's
    file id at Telegram, or "chart:day" (week, month) for the rate's chart, or None. `quote` is fixed at the
    confirmation: all get the same numbers. A daily one is confirmed once and begets one broadcast a day, whose
    `series` is its id. `chat_id` and `message_id` are the live message of its progress. `report` is how many deliveries
    ended how (by `DeliveryStatus`), kept once it has ended: people who are forgotten later leave the ledger.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row of the ledger: unique by (broadcast, person). `silent`, which isn't kept: it is quiet there just now."""

    broadcast_id: str
    person_id: int
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
