"""Show, export, delete and prune payment requests as a user's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.orders.repository import OrderRepository
from bot.orders.user_data import delete_links
from bot.payment_requests.model import ClosedBy, PaymentRequest
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


@dataclass(frozen=True, slots=True)
class PaidOrders:
    """Paid orders from the user's links whose rupiah are on the way."""

    count: int

    def notice(self, t: Translator) -> str:
        """Return the paragraph for the question before a deletion."""
        return t.plural("payment_requests.privacy.in_progress", self.count)

    def details(self, t: Translator, now: datetime) -> str:  # noqa: ARG002  the same at any time
        """Return the paragraph about a waiting deletion."""
        return self.notice(t)


async def stored(tx: Transaction, user_id: int) -> StoredPaymentRequests:
    """Return the payment requests of a user."""
    return StoredPaymentRequests(await PaymentRequestRepository(tx).of_user(user_id, limit=ALL))


async def has_any(tx: Transaction, user_id: int) -> bool:
    """Return whether the user has a payment request, or has reported one."""
    requests = await PaymentRequestRepository(tx).ids_of_user(user_id)
    return bool(requests) or await ReportRepository(tx).has_any(user_id)


async def export_user(tx: Transaction, user_id: int) -> JsonObject:
    """Return the payment requests of the exported file."""
    found = await PaymentRequestRepository(tx).of_user(user_id, limit=ALL)
    return {"payment_requests": [_request(each) for each in found]}


async def begin_deletion(tx: Transaction, user_id: int, now: datetime) -> None:
    """Close the user's links first and for good, so that no new order comes from them."""
    await PaymentRequestRepository(tx).close_all(user_id, ClosedBy.DELETION, now)


async def blocks_deletion(tx: Transaction, user_id: int) -> PaidOrders | None:
    """Return the paid orders that the deletion waits for: the user must be reachable until the rupiah have arrived."""
    requests = await PaymentRequestRepository(tx).ids_of_user(user_id)
    tallies = await OrderRepository(tx).tally_links(requests) if requests else {}
    count = sum(each.in_progress for each in tallies.values())
    return PaidOrders(count) if count else None


async def delete_user(tx: Transaction, user_id: int, now: datetime) -> None:
    """Delete the user's payment requests and reports, and remove the user's number from the orders of the links."""
    requests = PaymentRequestRepository(tx)
    if ids := await requests.ids_of_user(user_id):
        await delete_links(tx, ids, now)
    await requests.delete_of_user(user_id)


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
    begin_deletion=begin_deletion,
    blocks_deletion=blocks_deletion,
    prune=prune,
)
