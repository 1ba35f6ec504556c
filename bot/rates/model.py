"""What is kept of quotes and of who wishes to hear of them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


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
