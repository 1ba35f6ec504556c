"""Payment requests in `/privacy`, and what a deletion does to links and to the orders that were made from them."""

from dataclasses import dataclass
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import count_rows
from bot.infra.i18n import Translator
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.user_data import delete_links
from bot.payment_requests.model import ClosedBy, PaymentRequest
from bot.payment_requests.notifications import day_subject, shared_notifications
from bot.payment_requests.repository import PaymentRequestRepository, ids_of_user
from bot.payment_requests.screens import format_line
from bot.payment_requests.tables import payment_requests
from bot.users.user_data import MAX_LISTED, StoredData, UserData


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


def stored_requests(newest: tuple[PaymentRequest, ...], count: int) -> StoredData:
    """Return the number of requests and the newest ones, masked, and that links stop working for good."""
    return StoredData(
        key="payment_requests.privacy.requests",
        count=count,
        first=newest,
        format_line=format_line,
        warnings=[("payment_requests.privacy.warning", {})] if count else (),
    )


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the payment requests of a user."""
    newest = await PaymentRequestRepository(tx).of_user(user_id, limit=MAX_LISTED)
    return stored_requests(newest, await count_rows(tx, payment_requests, user_id))


async def begin_deletion(tx: Transaction, user_id: int, now: datetime) -> None:
    """Lock the user's links, and close them for good. No order of them is made or paid until the transaction ends."""
    requests = PaymentRequestRepository(tx)
    await requests.close_all(user_id, ClosedBy.DELETION, now)
    # The deletion waits for each message. A summary of the day is sent now.
    await OutboxRepository(tx).hasten(day_subject(user_id), user_id, now)
    # The deletion waits for them. Once only: one that can't be sent doesn't hold it up.
    await OutboxRepository(tx).add(shared_notifications(await requests.shared_of_user(user_id), now, "deletion"))


async def blocks_deletion(tx: Transaction, user_id: int) -> PaidOrders | None:
    """Return the paid orders that the deletion waits for: the user must be reachable until the rupiah have arrived."""
    count = await PaymentRequestRepository(tx).count_in_progress(user_id)
    return PaidOrders(count) if count else None


async def before_deletion(tx: Transaction, user_id: int, now: datetime) -> None:
    """Remove the user's number from the orders of the links."""
    await delete_links(tx, ids_of_user(user_id), now)


USER_DATA = UserData(
    stored=stored,
    begin_deletion=begin_deletion,
    blocks_deletion=blocks_deletion,
    before_deletion=before_deletion,
)
