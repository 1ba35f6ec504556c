"""Subscriptions and alerts for tests, which name only the fields that they are about."""

from decimal import Decimal
from typing import Any

from bot.rates.model import RateAlert, Subscription
from tests.times import DAY, NOW
from tests.users.builders import EMMA


def a_subscription(user_id: int = EMMA, **changes: Any) -> Subscription:
    """Return a subscription without a daily quote."""
    return Subscription(user_id=user_id, subscribed_at=NOW, **changes)


def an_alert(alert_id: str = "a1", user_id: int = EMMA, **changes: Any) -> RateAlert:
    """Return an alert above Rp1,750,000,000.50 that is sent once."""
    values: dict[str, Any] = {
        "is_above": True,
        "threshold": Decimal("1750000000.500"),
        "created_at": NOW,
        "expires_at": NOW + 30 * DAY,
    }
    return RateAlert(id=alert_id, user_id=user_id, **{**values, **changes})
