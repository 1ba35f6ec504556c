"""Saved recipients for tests, which name only the fields that they are about."""

from datetime import timedelta
from typing import Any

from bot.recipients.model import SavedRecipient
from bot.settlement.model import PayoutMethod
from tests import screens
from tests.settlement.builders import BCA, LISTED_BCA
from tests.times import NOW
from tests.users.builders import EMMA


def a_recipient(recipient_id: str, user_id: int = EMMA, **changes: object) -> SavedRecipient:
    """Return a recipient that a user has saved just now."""
    values = {"method": BCA, "number": "7731004455", "holder": "SARI DEWI", "created_at": NOW, "last_used_at": NOW}
    return SavedRecipient(id=recipient_id, user_id=user_id, **{**values, **changes})  # type: ignore[arg-type]


def a_long_recipient(method: PayoutMethod = LISTED_BCA, **changes: Any) -> SavedRecipient:
    """Return a recipient with the longest number, and with markup in the name."""
    values: dict[str, Any] = {
        "method": method,
        "number": "12345678901234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "created_at": screens.NOW - timedelta(days=9),
        "last_used_at": screens.NOW - timedelta(days=2),
    }
    return a_recipient("0123456789abcdef", **{**values, **changes})
