"""Make, change and close payment requests, take payers' reports, and let operators act on them.

A request is saved in the transaction that closes its draft, together with the notification that sends its card. What an
operator looks at and closes is in the audit log, in the same transaction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Final

from bot.checkout.draft import DraftStatus, OrderDraft
from bot.checkout.flow import is_complete
from bot.checkout.repository import DraftRepository
from bot.core.errors import Rejection
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import NOBODY
from bot.infra.feature import Infra
from bot.infra.outbox.model import format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.limits import DAY
from bot.orders.order import Payer
from bot.orders.placement.service import withdraw_invoices
from bot.orders.repository import LinkTally, OrderRepository
from bot.payment_requests.model import (
    MAX_SHARED,
    PAID,
    ClosedBy,
    PaymentRequest,
    PaymentRequestRules,
    ReceivedPayment,
    Report,
    ReportedRequest,
    RequestState,
    RequestStatus,
    new_id,
    new_token,
)
from bot.payment_requests.notifications import (
    card_notification,
    closed_notification,
    report_notifications,
    shared_notifications,
)
from bot.payment_requests.repository import MOST_PAYMENTS, PaymentRequestRepository, ReportRepository, ids_of_user
from bot.payment_requests.wording import space_dots
from bot.staff.audit import AuditTerms, name_as_written, record_audit
from bot.staff.model import AuditAction
from bot.users.model import User
from bot.users.repository import UserRepository

ENDED_SECONDS: Final = 60.0
"""How often it is looked for links whose time has ended."""


class TooManyRequests(Rejection):
    """The user has as many open requests as allowed, or has made as many today."""


class PaymentRequestService:
    """Make and change the payment requests of users. A user's method reaches only their own."""

    def __init__(self, infra: Infra, rules: PaymentRequestRules) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._rules = rules

    async def check_limit(self, user_id: int) -> None:
        """Raise `TooManyRequests` if the user can't make another request now."""
        async with self._database.reading() as tx:
            await self._check_new(tx, user_id)

    async def create(self, draft: OrderDraft) -> PaymentRequest | None:
        """Make the request of a complete draft, and queue its card. None: the draft has changed since.

        Raises:
            TooManyRequests: nothing was saved.
            Rejection: the end has passed.
        """
        now = self._clock.now()
        if not self._rules.is_on:
            raise Rejection("payment_requests.off")
        request = _request_of(draft, now)
        if request is None:
            return None
        if request.ends_at is not None and request.ends_at <= now:
            raise Rejection("payment_requests.end.passed")
        async with self._database.transaction() as tx:
            await self._check_new(tx, draft.user_id)
            if await DraftRepository(tx).save(replace(draft, status=DraftStatus.PLACED)) is None:
                return None
            await PaymentRequestRepository(tx).add(request)
            await OutboxRepository(tx).add([card_notification(request, now)])
        return request

    async def of_draft(self, draft_id: str) -> PaymentRequest | None:
        """Return the request that a draft has become, or None."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).of_draft(draft_id)

    async def list_own(self, user_id: int) -> tuple[PaymentRequest, ...]:
        """Return the requests of a user, those that aren't closed first."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).of_user(user_id)

    async def tally(self, requests: Iterable[PaymentRequest]) -> Mapping[str, LinkTally]:
        """Return what came in by each of these requests. Those that nobody has paid are left out."""
        async with self._database.reading() as tx:
            return await OrderRepository(tx).tally_links([each.id for each in requests])

    async def received(self, user_id: int, *, named: int = MOST_PAYMENTS) -> Sequence[ReceivedPayment]:
        """Return the newest payments of a user's requests. The first `named` have their request."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).received(user_id, named=named)

    async def get_own(self, user_id: int, request_id: str) -> PaymentRequest | None:
        """Return a request of a user. None if it doesn't exist, or belongs to another user."""
        async with self._database.reading() as tx:
            return await _find_own(tx, user_id, request_id)

    async def send_card(self, request: PaymentRequest, update_id: int) -> None:
        """Queue the card again. An update that is handled again queues no other one."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await OutboxRepository(tx).add([card_notification(request, now, update_id)])

    async def pause(self, user_id: int, request_id: str) -> PaymentRequest | None:
        """Pause a request of a user, and return it. None if there is none."""
        return await self._set_status(user_id, request_id, RequestStatus.PAUSED)

    async def resume(self, user_id: int, request_id: str) -> PaymentRequest | None:
        """Let a paused request be paid again, and return it. None if there is none."""
        return await self._set_status(user_id, request_id, RequestStatus.OPEN)

    async def close(self, user_id: int, request_id: str) -> PaymentRequest | None:
        """Close a request of a user for good, and return it. None if there is none."""
        return await self._set_status(user_id, request_id, RequestStatus.CLOSED, ClosedBy.ASKER)

    async def set_in_browsers(self, user_id: int, request_id: str, *, is_on: bool) -> PaymentRequest | None:
        """Let a request of a user be seen and paid in browsers, or no longer, and return it. None if there is none."""
        async with self._database.transaction() as tx:
            request = await _find_own(tx, user_id, request_id)
            if request is None or not self._rules.public_url:
                return request
            await PaymentRequestRepository(tx).save(replace(request, in_browsers=is_on), self._clock.now())
            return await _find_own(tx, user_id, request_id)

    async def set_note(self, user: User, request_id: str, note: str | None) -> PaymentRequest | None:
        """Set or remove the note, save `user`, and return the request. None if there is none."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            request = await _find_own(tx, user.id, request_id)
            if request is None:
                return None
            return await self._save(tx, replace(request, note=note))

    async def set_end(self, user: User, request_id: str, ends_at: datetime | None) -> PaymentRequest | None:
        """Set or remove the end, save `user`, and return the request. None if there is none.

        Raises:
            TooManyRequests: the request has ended, and the user can't have another open one.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            request = await _find_own(tx, user.id, request_id)
            if request is not None and request.state_at(now) is RequestState.ENDED:
                await self._check_limit(tx, user.id)
            await UserRepository(tx).save(user)
            if request is None:
                return None
            return await self._save(tx, replace(request, ends_at=ends_at))

    async def _set_status(
        self, user_id: int, request_id: str, status: RequestStatus, by: ClosedBy | None = None
    ) -> PaymentRequest | None:
        async with self._database.transaction() as tx:
            request = await _find_own(tx, user_id, request_id)
            if request is None:
                return None
            return await self._save(tx, replace(request, status=status, closed_by=by))

    async def _save(self, tx: Transaction, changed: PaymentRequest) -> PaymentRequest | None:
        """Save what an asker has changed, let the messages that share it follow, and return it as it is now."""
        now = self._clock.now()
        await PaymentRequestRepository(tx).save(changed, now)
        await OutboxRepository(tx).add(shared_notifications([changed], now))
        return await _find_own(tx, changed.user_id, changed.id)

    async def record_shared(self, user_id: int, request_id: str, message: str) -> None:
        """Save that a user has shared a request of theirs in a message, by Telegram's id of it."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            requests = PaymentRequestRepository(tx)
            try:
                request = await requests.lock(request_id)
            except RowUnreadable:
                return  # it is recorded for the monitor
            if request is None or request.user_id != user_id or message in (request.shared or ()):
                return
            shared = replace(request, shared=(*(request.shared or ()), message)[-MAX_SHARED:])
            await requests.save_shared(shared)
            if not request.is_payable(now):  # it has changed since Telegram had the answer
                await OutboxRepository(tx).add(shared_notifications([shared], now))

    async def follow_ended(self) -> float:
        """Let the messages follow that share links whose time has ended. Return the seconds until the next look."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            ended = await PaymentRequestRepository(tx).shared_until(now - DAY, now)
        # Once for each end: what was added before isn't added again.
        queued = [shared_notifications([each], now, format_mark("end", each.ends_at)) for each in ended]
        if any(queued):
            async with self._database.transaction() as tx:
                await OutboxRepository(tx).add(list(chain.from_iterable(queued)))
        return ENDED_SECONDS

    async def _check_new(self, tx: Transaction, user_id: int) -> None:
        """Raise if the user has the maximum of open requests, or made too many today."""
        await self._check_limit(tx, user_id)
        most = self._rules.max_per_day
        if most and await PaymentRequestRepository(tx).count_made(user_id, self._clock.now() - DAY) >= most:
            raise TooManyRequests("payment_requests.too_many_today", most=most)

    async def _check_limit(self, tx: Transaction, user_id: int) -> None:
        """Raise if the user has the maximum of open requests. Updates of one chat come one after another."""
        most = self._rules.max_open
        if most and await PaymentRequestRepository(tx).count_open(user_id, self._clock.now()) >= most:
            raise TooManyRequests("payment_requests.too_many", most=most)


async def _find_own(tx: Transaction, user_id: int, request_id: str) -> PaymentRequest | None:
    request = await PaymentRequestRepository(tx).get(request_id)
    return request if request is not None and request.user_id == user_id else None


def _request_of(draft: OrderDraft, now: datetime) -> PaymentRequest | None:
    """Return the request of a draft, or None if the draft isn't complete."""
    terms = draft.terms
    if terms is None or not is_complete(draft) or draft.method is None or draft.number is None or draft.holder is None:
        return None
    return PaymentRequest(
        id=new_id(),
        user_id=draft.user_id,
        token=new_token(),
        method=draft.method,
        number=draft.number,
        holder=space_dots(draft.holder),
        idr=None if draft.amount is None else draft.amount.value,
        note=terms.note,
        is_reusable=bool(terms.is_reusable),
        ends_at=terms.ends_at,
        draft_id=draft.id,
        created_at=now,
        used_at=now,
    )


_ALL_OF_USER: Final = "all_of_user"
"""The detail of an entry about closing all requests of the asker."""

AUDIT_TERMS: Final = AuditTerms(subjects={"payment_request": name_as_written}, details=frozenset({_ALL_OF_USER}))


MAX_LISTED: Final = 20
MOST_A_DAY: Final = 5
"""Reports of a payer. A report of a request that the payer has paid is always taken."""


class ReportService:
    """Take reports of payers, and let operators act on them."""

    def __init__(self, infra: Infra, rules: PaymentRequestRules) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._rules = rules

    async def report(self, payer: Payer, request_id: str, reason: str) -> None:
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
            if request.user_id == payer.user_id:
                raise Rejection("payment_requests.report.own")
            has_paid = await OrderRepository(tx).has_paid_from(request_id, payer)
            why = f"{PAID}{reason}" if has_paid else reason
            user_id, payer_hash = payer.user_id or NOBODY, payer.secret_hash or ""
            report = Report(request_id=request_id, user_id=user_id, payer_hash=payer_hash, at=now, reason=why)
            if not await reports.add(report):
                return
            if not has_paid and await reports.count_by(user_id, payer_hash, now - DAY) > MOST_A_DAY:
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
            subject, now = f"payment_request:{request.id}", self._clock.now()
            await record_audit(tx, operator_id, AuditAction.LOOKED, subject, now, user_id=request.user_id)
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
                subject, detail = f"payment_request:{request_id}", _ALL_OF_USER if is_all else ""
                await record_audit(tx, operator_id, AuditAction.CLOSED, subject, now, user_id=user_id, detail=detail)
            if closed:
                shared = [each for each in await requests.shared_of_user(user_id) if is_all or each.id == request_id]
                message = closed_notification(request_id, user_id, now, is_all=is_all)
                await OutboxRepository(tx).add([message, *shared_notifications(shared, now)])
        return closed
