"""Reports: a payer reports a request and says why, and operators close it, or all requests of its asker.

What an operator looks at and closes is in the audit log, in the same transaction.
"""

from collections.abc import Mapping
from typing import Final

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.limits import DAY
from bot.orders.placement.service import withdraw_invoices
from bot.orders.repository import OrderRepository
from bot.payment_requests.audit import ALL_OF_USER, record_closing, record_look
from bot.payment_requests.model import PAID, ClosedBy, PaymentRequest, Report, ReportedRequest
from bot.payment_requests.notifications import closed_notification, report_notifications
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository, ids_of_user
from bot.payment_requests.rules import PaymentRequestRules

MAX_LISTED: Final = 20
MOST_A_DAY: Final = 5
"""Reports of a payer. A report of a request that the payer has paid is always taken."""


class ReportService:
    """Take reports of payers, and let operators act on them."""

    def __init__(self, infra: Infra, rules: PaymentRequestRules) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._rules = rules

    async def report(self, user_id: int, request_id: str, reason: str) -> None:
        """Save a payer's report, and notify operators. A second tap adds nothing, unless the payer has paid since.

        Operators get one message about an asker until one of them has looked, and one about each reporter who has paid.

        Raises:
            Rejection: `payment_requests.report.own`. For a payer who hasn't paid, `payment_requests.report.too_many`
                (`most`).
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            request, reports = await PaymentRequestRepository(tx).get(request_id), ReportRepository(tx)
            if request is None:
                return
            if request.user_id == user_id:
                raise Rejection("payment_requests.report.own")
            has_paid = await OrderRepository(tx).has_paid_from(request_id, user_id)
            why = f"{PAID}{reason}" if has_paid else reason
            if not await reports.add(Report(request_id=request_id, user_id=user_id, at=now, reason=why)):
                return
            if not has_paid and await reports.count_by(user_id, now - DAY) > MOST_A_DAY:
                raise Rejection("payment_requests.report.too_many", most=MOST_A_DAY)
            if has_paid or await reports.count_unseen(request.user_id) == 1:
                await OutboxRepository(tx).add(report_notifications(request, self._rules.operator_ids, now))

    async def list_reported(self) -> tuple[ReportedRequest, ...]:
        """Return the reported requests for `/reports`, the last reported first."""
        async with self._database.reading() as tx:
            return await ReportRepository(tx).reported(limit=MAX_LISTED)

    async def look(self, operator_id: int, request_id: str) -> tuple[PaymentRequest, Mapping[str, int]] | None:
        """Return a request, and how often it was reported for which reason. Record the look. None if it is gone."""
        async with self._database.transaction() as tx:
            request = await PaymentRequestRepository(tx).get(request_id)
            if request is None:
                return None
            await record_look(tx, operator_id, request, self._clock.now())
            await ReportRepository(tx).mark_seen(request.user_id)
            return request, await ReportRepository(tx).count(request_id)

    async def close(self, operator_id: int, request_id: str, *, is_all: bool = False) -> int | None:
        """Close a request for good, or all of its asker's. Remove their unpaid invoices, and notify the asker.

        Return how many were open, or None if the request is gone.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            requests = PaymentRequestRepository(tx)
            user_id = await requests.user_of(request_id)
            if user_id is None:
                return None
            if is_all:
                closed = await requests.close_all(user_id, ClosedBy.OPERATOR, now)
            else:
                closed = int(await requests.close(request_id, ClosedBy.OPERATOR, now))
            only = None if is_all else request_id
            withdrawn = await withdraw_invoices(tx, ids_of_user(user_id), now, only=only)
            if closed or withdrawn:
                detail = ALL_OF_USER if is_all else ""
                await record_closing(tx, operator_id, request_id, now, user_id=user_id, detail=detail)
            if closed:
                await OutboxRepository(tx).add([closed_notification(request_id, user_id, now, is_all=is_all)])
        return closed
