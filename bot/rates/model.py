"""Subscriptions to the rate, and price alerts."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A user who gets broadcasts, and a daily quote where `daily_minute` is set.

    `daily_minute`, `quiet_from` and `quiet_until` are minutes of the user's own day (0 to 1,439), or None.
    """

    user_id: int
    subscribed_at: datetime
    daily_minute: int | None = None
    next_daily_at: datetime | None = None
    quiet_from: int | None = None
    quiet_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateAlert:
    """An alert that is sent when one bitcoin is above (or below) `threshold` rupiah.

    Attributes:
        cooldown_seconds: seconds until the alert can be sent again. None if it is sent once.
        cooldown_until: the alert isn't checked before then.
        expires_at: the alert isn't checked after that.
    """

    id: str
    user_id: int
    is_above: bool
    threshold: Decimal
    cooldown_seconds: int | None = None
    cooldown_until: datetime | None = None
    created_at: datetime
    expires_at: datetime

    def is_met_by(self, rate: Decimal) -> bool:
        """Return whether a rate reaches the threshold."""
        return rate >= self.threshold if self.is_above else rate <= self.threshold


@dataclass(frozen=True, slots=True)
class RateUpdates:
    """All rate updates of a user. Alerts are in the order of their creation."""

    subscription: Subscription | None = None
    alerts: tuple[RateAlert, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the user gets no rate updates."""
        return self.subscription is None and not self.alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRequest:
    """An alert that a user requests. `cooldown_hours` is None if it is sent once. It expires after `days`."""

    is_above: bool
    threshold: Decimal
    cooldown_hours: int | None
    days: int
