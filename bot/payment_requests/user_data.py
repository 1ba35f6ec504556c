"""Show, export, delete and prune payment requests as a user's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.orders.user_data import delete_links
from bot.payment_requests.model import ClosedBy, PaymentRequest
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository, ids_of_user
from bot.payment_requests.screens.formatting import format_line
from bot.payment_requests.tables import payment_requests
from bot.recipients.user_data import method_json
from bot.users.user_data import MAX_LISTED, JsonObject, Rows, StoredData, UserData, count_rows, format_time, list_first


@dataclass(frozen=True, slots=True)
class StoredPaymentRequests(StoredData):
    """A user's payment requests in `/privacy`. Numbers are masked, since others may see the chat."""

    newest: tuple[PaymentRequest, ...]
    count: int

    def records(self, t: Translator) -> Sequence[str]:
        """Return the number of requests, and the first ones."""
        if not self.count:
            return ()
        count = t.plural("payment_requests.privacy.requests", self.count)
        lines = [f"• {format_line(t, each)}" for each in self.newest]
        return ("\n".join([count, *list_first(lines, self.count)]),)

    def warnings(self, t: Translator) -> Sequence[str]:
        """Return that links stop working for good."""
        return (t("payment_requests.privacy.warning"),) if self.count else ()


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
    newest = await PaymentRequestRepository(tx).of_user(user_id, limit=MAX_LISTED)
    return StoredPaymentRequests(newest, await count_rows(tx, payment_requests, user_id))


async def has_any(tx: Transaction, user_id: int) -> bool:
    """Return whether the user has reported a payment request."""
    return await ReportRepository(tx).has_any(user_id)


async def export(tx: Transaction, user_id: int, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return payment requests for the exported file."""
    found = await PaymentRequestRepository(tx).of_user(user_id, limit=limit, offset=offset)
    return [_request(each) for each in found]


async def begin_deletion(tx: Transaction, user_id: int, now: datetime) -> None:
    """Lock the user's links, and close them for good. No order of them is made or paid until the transaction ends."""
    await PaymentRequestRepository(tx).close_all(user_id, ClosedBy.DELETION, now)


async def blocks_deletion(tx: Transaction, user_id: int) -> PaidOrders | None:
    """Return the paid orders that the deletion waits for: the user must be reachable until the rupiah have arrived."""
    count = await PaymentRequestRepository(tx).count_in_progress(user_id)
    return PaidOrders(count) if count else None


async def delete_user(tx: Transaction, user_id: int, now: datetime) -> None:
    """Delete the user's payment requests and reports, and remove the user's number from the orders of the links."""
    await delete_links(tx, ids_of_user(user_id), now)
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
    rows={"payment_requests": Rows(payment_requests, export)},
    stored=stored,
    has_any=has_any,
    delete_user=delete_user,
    begin_deletion=begin_deletion,
    blocks_deletion=blocks_deletion,
    prune=prune,
)
