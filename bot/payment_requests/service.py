"""Make, change and close payment requests, and take payers' reports.

A request is saved in the transaction that closes its draft, together with the notification that sends its card.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.checkout.draft import DraftStatus, OrderDraft
from bot.checkout.flow import is_complete
from bot.checkout.repository import DraftRepository
from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.repository import LinkTally, OrderRepository
from bot.payment_requests.links import new_token
from bot.payment_requests.model import ClosedBy, PaymentRequest, RequestState, RequestStatus, new_id
from bot.payment_requests.notifications import card_notification
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.rules import PaymentRequestRules
from bot.payment_requests.wording import space_dots
from bot.users.model import User
from bot.users.repository import UserRepository

DAY: Final = timedelta(days=1)


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
        """Return the requests of a user, the newest first."""
        async with self._database.reading() as tx:
            return await PaymentRequestRepository(tx).of_user(user_id)

    async def tally(self, requests: Iterable[PaymentRequest]) -> Mapping[str, LinkTally]:
        """Return what came in by each of these requests. Those that nobody has paid are left out."""
        async with self._database.reading() as tx:
            return await OrderRepository(tx).tally_links([each.id for each in requests])

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

    async def set_note(self, user: User, request_id: str, note: str | None) -> PaymentRequest | None:
        """Set or remove the note, save `user`, and return the request. None if there is none."""
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(user)
            request = await _find_own(tx, user.id, request_id)
            if request is None:
                return None
            await PaymentRequestRepository(tx).save(replace(request, note=note), self._clock.now())
            return await _find_own(tx, user.id, request_id)

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
            await PaymentRequestRepository(tx).save(replace(request, ends_at=ends_at), now)
            return await _find_own(tx, user.id, request_id)

    async def _set_status(
        self, user_id: int, request_id: str, status: RequestStatus, by: ClosedBy | None = None
    ) -> PaymentRequest | None:
        async with self._database.transaction() as tx:
            request = await _find_own(tx, user_id, request_id)
            if request is None:
                return None
            changed = replace(request, status=status, closed_by=by)
            await PaymentRequestRepository(tx).save(changed, self._clock.now())
            return await _find_own(tx, user_id, request_id)

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
