"""Payment requests for tests, which name only the fields that they are about."""

from typing import Any

from bot.payment_requests.model import PaymentRequest, Report
from tests.settlement.builders import BCA
from tests.times import NOW
from tests.users.builders import EMMA, SARI

TOKEN = "Zm9vYmFyYmF6cXV4"


def a_request(request_id: str = "0123456789abcdef", **changes: Any) -> PaymentRequest:
    """Return an open request of Sari's for Rp150,000."""
    values: dict[str, Any] = {
        "user_id": SARI,
        "token": TOKEN,
        "method": BCA,
        "number": "7731004455",
        "holder": "Sari Dewi",
        "idr": 150_000,
        "note": "Patungan makan siang",
        "draft_id": f"d{request_id}",
        "created_at": NOW,
        "used_at": NOW,
    }
    return PaymentRequest(id=request_id, **{**values, **changes})


def a_report(user_id: int = EMMA, **changes: Any) -> Report:
    """Return a user's report of Sari's request."""
    return Report(**{"request_id": "0123456789abcdef", "user_id": user_id, "at": NOW, "reason": "scam", **changes})
