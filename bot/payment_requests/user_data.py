"""Show, export, delete and prune payment requests as a user's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.payment_requests.model import PaymentRequest
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository
from bot.payment_requests.screens.formatting import format_line
from bot.recipients.user_data import method_json
from bot.users.user_data import JsonObject, StoredData, UserData, format_time, list_first

ALL: Final = 100_000


@dataclass(frozen=True, slots=True)
class StoredPaymentRequests(StoredData):
    """A user's payment requests in `/privacy`. Numbers are masked, since others may see the chat."""

    requests: tuple[PaymentRequest, ...]

    def records(self, t: Translator) -> Sequence[str]:
        """Return the number of requests, and the first ones."""
        if not self.requests:
            return ()
        count = t.plural("payment_requests.privacy.requests", len(self.requests))
        return ("\n".join([count, *list_first([f"• {format_line(t, each)}" for each in self.requests])]),)

    def warnings(self, t: Translator) -> Sequence[str]:
        """Return that links stop working for good."""
        return (t("payment_requests.privacy.warning"),) if self.requests else ()


async def stored(tx: Transaction, user_id: int) -> StoredPaymentRequests:
    """Return the payment requests of a user."""
    return StoredPaymentRequests(await PaymentRequestRepository(tx).of_user(user_id, limit=ALL))


async def has_any(tx: Transaction, user_id: int) -> bool:
    """Return whether the user has a payment request, or has reported one."""
    requests = await PaymentRequestRepository(tx).of_user(user_id, limit=1)
    return bool(requests) or await ReportRepository(tx).has_any(user_id)


async def export_user(tx: Transaction, user_id: int) -> JsonObject:
    """Return the payment requests of the exported file."""
    found = await PaymentRequestRepository(tx).of_user(user_id, limit=ALL)
    return {"payment_requests": [_request(each) for each in found]}


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Delete the user's payment requests, the reports about them, and the user's own reports."""
    await PaymentRequestRepository(tx).delete_of_user(user_id)


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete requests that were neither changed nor paid for too long, and old reports."""
    if kept is None:
        return 0
    deleted = await PaymentRequestRepository(tx).delete_unused(now - kept, limit)
    return max(deleted, await ReportRepository(tx).delete_old(now - kept, limit))


def _request(request: PaymentRequest) -> JsonObject:
    return {
        "link_word": request.token,
        "destination": method_json(request.method),
        "number": request.number,
        "holder": request.holder,
        "idr": request.idr,
        "note": request.note,
        "can_be_paid_many_times": request.is_reusable,
        "ends_at": format_time(request.ends_at),
        "status": str(request.status),
        "closed_by": None if request.closed_by is None else str(request.closed_by),
        "created_at": format_time(request.created_at),
        "last_used_at": format_time(request.used_at),
    }


USER_DATA = UserData(
    feature="payment_requests",
    stored=stored,
    has_any=has_any,
    export_user=export_user,
    delete_user=delete_user,
    prune=prune,
)
