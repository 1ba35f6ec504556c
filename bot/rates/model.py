"""Quotes of the rate, subscriptions to it, and price alerts."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.core.money import SETTLEMENT_FEE_IDR, Amount, rupiah_for_sats, sats_for_rupiah
from bot.settlement.model import Quote


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an order costs at a quote: whole sats to pay, and whole rupiah that arrive."""

    sats: int
    idr: int
    fee_idr: int
    quote: Quote


def estimate(amount: Amount, quote: Quote) -> Estimate:
    """Return what `amount` costs at `quote`, rounded as the service rounds (sats up, rupiah down)."""
    if amount.currency == "SAT":
        idr = rupiah_for_sats(amount.value, quote.btc_idr)
        return Estimate(amount.value, idr, SETTLEMENT_FEE_IDR, quote)
    sats = sats_for_rupiah(amount.value, quote.btc_idr)
    return Estimate(sats, amount.value, SETTLEMENT_FEE_IDR, quote)


def price_drift_percent(*, expected_sats: int, expected_idr: int, sats: int, idr: int) -> Decimal:
    """Return how much worse for the payer the locked price is than the reviewed one, in percent.

    A negative result means a better price. The prices are compared in sats for one rupiah, so the result doesn't depend
    on which amount the user typed.
    """
    if min(expected_sats, expected_idr, sats, idr) <= 0:
        return Decimal("Infinity")
    locked = Decimal(sats) / Decimal(idr)
    reviewed = Decimal(expected_sats) / Decimal(expected_idr)
    return (locked / reviewed - 1) * 100
