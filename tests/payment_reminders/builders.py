"""Payment reminders for tests, which name only the fields that they are about."""

from typing import Any

from bot.payment_reminders.model import PaymentReminder
from tests.times import NOW
from tests.users.builders import EMMA


def a_reminder(user_id: int = EMMA, recipient_id: str = "0123456789abcdef", **changes: Any) -> PaymentReminder:
    """Return a reminder of Rp500,000 on Fridays."""
    values: dict[str, Any] = {
        "id": "fedcba9876543210",
        "idr": 500_000,
        "day": "fri",
        "due_at": NOW,
        "created_at": NOW,
    }
    return PaymentReminder(user_id=user_id, recipient_id=recipient_id, **{**values, **changes})
