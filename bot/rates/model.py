"""What is kept of quotes and of who wishes to hear of them."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from bot.rates.quote import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Somebody who wishes to hear of the rate: of broadcasts, and of a daily quote where `daily_minute` is set.

    `daily_minute`, `quiet_from` and `quiet_until` are minutes of the person's own day (0 to 1,439), or None.
    """

    person_id: int
    since: datetime
    daily_minute: int | None = None
    next_daily_at: datetime | None = None
    quiet_from: int | None = None
    quiet_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateAlert:
    """A wish to be told when BTC/IDR is above (or below) `threshold`: rupiah for one bitcoin.

    `cool_down` is the seconds until it may ring again, None where it rings once. It isn't looked at before
    `rests_until`, and never after `expires_at`.
    """

    id: str
    person_id: int
    is_above: bool
    threshold: Decimal
    cool_down: int | None = None
    rests_until: datetime | None = None
    created_at: datetime
    expires_at: datetime

    def is_met_by(self, rate: Decimal) -> bool:
        """Whether this rate is what is waited for."""
        return rate >= self.threshold if self.is_above else rate <= self.threshold


class Quotes(Protocol):
    """The quotes that the bot has seen itself."""

    async def add(self, quote: Quote) -> bool:
        """Keep it; False where the service's quote of this time is kept already."""
        ...

    async def between(self, since: datetime, until: datetime) -> tuple[Quote, ...]:
        """Oldest first."""
        ...

    async def latest(self) -> Quote | None: ...
    async def forget(self, before: datetime) -> int: ...


class Subscriptions(Protocol):
    """Who wishes to hear of the rate, and their alerts."""

    async def get(self, person_id: int) -> Subscription | None: ...
    async def save(self, subscription: Subscription) -> None:
        """Insert or replace."""
        ...

    async def delete(self, person_id: int) -> bool:
        """End the subscription and all alerts of a person; whether there was any of it."""
        ...

    async def count(self) -> int: ...
    async def quiet(self, person_ids: Collection[int], now: datetime) -> frozenset[int]:
        """Those of these persons who have it quiet at this moment, by their own clocks."""
        ...

    async def due(self, now: datetime, limit: int = 500) -> tuple[Subscription, ...]:
        """Those whose daily quote is due, the longest waiting first."""
        ...

    async def advance(self, person_id: int, due_at: datetime, next_at: datetime | None) -> bool:
        """The daily quote that was due at `due_at` is taken up; False where somebody has changed it since."""
        ...

    async def set_aside(self, person_id: int) -> None:
        """End a daily quote that can't be told, because a row can't be read."""
        ...

    async def alerts_of(self, person_id: int) -> tuple[RateAlert, ...]:
        """Oldest first."""
        ...

    async def alert(self, alert_id: str) -> RateAlert | None: ...
    async def save_alert(self, alert: RateAlert) -> None:
        """Insert or replace."""
        ...

    async def delete_alert(self, alert_id: str) -> bool: ...
    async def rest(self, alert_id: str, now: datetime, until: datetime) -> bool:
        """Let an alert rest that is awake; False where it isn't any more."""
        ...

    async def awake_alerts(self, now: datetime) -> tuple[RateAlert, ...]:
        """All that neither rest nor have expired."""
        ...

    async def forget_alerts(self, expired_before: datetime) -> int: ...
