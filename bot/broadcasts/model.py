"""What is kept of broadcasts: what is to be said to whom, and the ledger of deliveries."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.rates.quote import Quote


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


class Broadcasts(Protocol):
    """Broadcasts of all operators."""

    async def get(self, broadcast_id: str) -> Broadcast | None: ...
    async def add(self, broadcast: Broadcast) -> None: ...
    async def save(self, broadcast: Broadcast) -> Broadcast | None:
        """Save over the same revision and return it with the next one; None where somebody else has saved."""
        ...

    async def draft_of(self, operator_id: int) -> Broadcast | None:
        """The newest draft of an operator that is open."""
        ...

    async def newest(self, limit: int = 10, offset: int = 0) -> tuple[Broadcast, ...]:
        """Those that were confirmed, newest first."""
        ...

    async def count(self) -> int:
        """How many were confirmed."""
        ...

    async def under_way(self) -> tuple[Broadcast, ...]:
        """Those scheduled, running or paused, by the time they begin."""
        ...

    async def last_with_quote(self) -> Broadcast | None:
        """The last one that has begun and told a quote."""
        ...


class Deliveries(Protocol):
    """The ledger."""

    async def snapshot(self, broadcast: Broadcast, default_locale: str, now: datetime) -> int:
        """Write one waiting row for each subscriber in the audience who can be reached; how many they are."""
        ...

    async def audience(self, audience: Audience, default_locale: str, now: datetime) -> Mapping[str, int]:
        """How many subscribers the audience has now, by the language they read."""
        ...

    async def claim(
        self, broadcast_id: str, limit: int, at: datetime, but: Collection[int] = ()
    ) -> tuple[Delivery, ...]:
        """Waiting -> sending, in the order of the persons' ids, all `but` these."""
        ...

    async def record(self, deliveries: Sequence[Delivery]) -> None:
        """Keep what became of claimed deliveries: their status, time and failure."""
        ...

    async def release(self, broadcast_id: str, person_ids: Collection[int]) -> None:
        """Sending -> waiting: these surely were not sent."""
        ...

    async def lost(self, broadcast_id: str) -> int:
        """Sending -> unknown: a crash has left them in the middle of a request; how many they were."""
        ...

    async def again(self, broadcast_id: str) -> int:
        """Unknown -> waiting, at an operator's word; how many they were."""
        ...

    async def counts(self, broadcast_id: str) -> Mapping[DeliveryStatus, int]: ...
    async def with_status(
        self, broadcast_id: str, status: DeliveryStatus, limit: int = 100
    ) -> tuple[Delivery, ...]: ...
