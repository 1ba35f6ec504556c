"""Drafts for tests, which name only the fields that they are about."""

from datetime import timedelta
from typing import Any

from bot.checkout.draft import OrderDraft, Step
from bot.core.money import Amount
from bot.settlement.model import PayoutMethod
from tests import screens
from tests.settlement.builders import LISTED_BCA, QUOTE
from tests.times import NOW


def a_draft(draft_id: str = "d1", **changes: Any) -> OrderDraft:
    """Return an open draft of Emma's that asks for the destination."""
    values: dict[str, Any] = {
        "id": draft_id,
        "chat_id": 1001,
        "user_id": 1001,
        "step": Step.DESTINATION,
        "expires_at": NOW + timedelta(minutes=30),
    }
    return OrderDraft(**{**values, **changes})


def a_draft_at_review(method: PayoutMethod = LISTED_BCA, **changes: Any) -> OrderDraft:
    """Return a draft at its review, with long values and with markup in the name."""
    values: dict[str, Any] = {
        "id": "0123456789",
        "chat_id": 1001,
        "user_id": 1001,
        "step": Step.REVIEW,
        "revision": 999_999,
        "method": method,
        "number": "12345678901234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "holder_asked": True,
        "amount": Amount("IDR", 500_000),
        "quote": QUOTE,
        "expires_at": screens.NOW + timedelta(minutes=30),
    }
    return OrderDraft(**{**values, **changes})
