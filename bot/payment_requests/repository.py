"""Read and write payment requests and reports. What payers confirm never changes after a request was made."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, Update, delete, false, func, or_, select, update

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.repository import Repository
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from bot.payment_requests.model import (
    PAID,
    ClosedBy,
    PaymentRequest,
    ReceivedPayment,
    Report,
    ReportedRequest,
    RequestStatus,
    hash_token,
)
from bot.payment_requests.tables import IS_CLOSED, IS_SHARED, payment_request_reports, payment_requests
from bot.settlement import json_values as nested
from bot.settlement.model import COMPLETED, FAILED

NAMES: Final = tuple(field.name for field in fields(PaymentRequest))
CHANGEABLE: Final = ("status", "closed_by", "ends_at", "note", "in_browsers", "used_at", "terms_seal")
MOST_PAYMENTS: Final = 1_000
"""The maximum of payments that are read at once, the newest ones."""

_requests, _reports = payment_requests.c, payment_request_reports.c
_IS_OF_PAYER = _reports.reason.startswith(PAID, autoescape=True)


def ids_of_user(user_id: int) -> Select[str]:
    """Return the query of the ids of a user's requests."""
    return select(_requests.id).where(_requests.user_id == user_id)


class PaymentRequestRepository(Repository[PaymentRequest]):
    """Read and write payment requests."""

    table = payment_requests

    async def add(self, request: PaymentRequest) -> bool:
        """Save a new request. Return False if its draft has already become one."""
        return await self._insert(request)

    async def get(self, request_id: str) -> PaymentRequest | None:
        """Return the request with this id, of any user, or None."""
        return await self._get(select(payment_requests).where(_requests.id == request_id))

    async def lock(self, request_id: str) -> PaymentRequest | None:
        """Return the request with this id, or None. It stays locked until the transaction ends, also if unreadable."""
        # As an update locks it.
        one = select(payment_requests).where(_requests.id == request_id)
        return await self._get(one.with_for_update(key_share=True))

    async def user_of(self, request_id: str) -> int | None:
        """Return whose request this is, also of an unreadable one. None if it doesn't exist."""
        found: int | None = await self._connection.scalar(select(_requests.user_id).where(_requests.id == request_id))
        return found

    async def is_in_browsers(self, request_id: str) -> bool:
        """Return whether a request can be seen and paid in browsers."""
        request = await self.get(request_id)
        return request is not None and request.in_browsers

    async def find_by_token(self, token: str) -> PaymentRequest | None:
        """Return the request whose link has this token, in any status, or None."""
        return await self._get(select(payment_requests).where(_requests.token_hash == hash_token(token)))

    async def find_by_tokens(self, tokens: Collection[str]) -> Mapping[str, PaymentRequest]:
        """Return the readable requests whose links have any of these tokens, in any status."""
        hashes = [hash_token(token) for token in tokens]
        found = await self._find(select(payment_requests).where(_requests.token_hash.in_(hashes)))
        return {request.token: request for request in found}

    async def of_draft(self, draft_id: str) -> PaymentRequest | None:
        """Return the request that a draft has become, or None."""
        return await self._get(select(payment_requests).where(_requests.draft_id == draft_id))

    async def of_user(self, user_id: int, *, limit: int = 100) -> tuple[PaymentRequest, ...]:
        """Return the readable requests of a user, those that aren't closed first, the newest before others."""
        in_order = select(payment_requests).order_by(IS_CLOSED, _requests.created_at.desc(), _requests.id)
        return await self._find(in_order.where(_requests.user_id == user_id).limit(limit))

    async def received(
        self, user_id: int, *, named: int = MOST_PAYMENTS, since: datetime | None = None
    ) -> tuple[ReceivedPayment, ...]:
        """Return the newest payments of a user's links, or those since a time. The first `named` have their request."""
        links, repository = ids_of_user(user_id), OrderRepository(self._tx)
        payments = await repository.payments_of_links(links, limit=MOST_PAYMENTS, since=since)
        paid = select(payment_requests).where(_requests.id.in_({each.link for each in payments[:named]}))
        known = {each.id: each for each in await self._find(paid)}
        return tuple(
            ReceivedPayment(
                request=known.get(each.link),
                idr=each.idr,
                paid_at=each.paid_at,
                state={COMPLETED: "sent", FAILED: "failed"}.get(each.state, "in_progress"),
            )
            for each in payments
        )

    async def count_in_progress(self, user_id: int) -> int:
        """Return how many paid orders from a user's links haven't ended."""
        of_links = select(func.count()).select_from(orders).where(orders.c.origin.in_(ids_of_user(user_id)))
        in_progress = of_links.where(orders.c.is_paid, orders.c.ended_at.is_(None))
        return (await self._connection.execute(in_progress)).scalar_one()

    async def count_open(self, user_id: int, now: datetime) -> int:
        """Return how many requests of a user can be paid, now or once they aren't paused."""
        has_not_ended = or_(_requests.ends_at.is_(None), _requests.ends_at > now)
        return await self._count(_requests.user_id == user_id, ~IS_CLOSED, has_not_ended)

    async def count_made(self, user_id: int, after: datetime) -> int:
        """Return how many requests a user has made after this time, in any status."""
        return await self._count(_requests.user_id == user_id, _requests.created_at > after)

    async def close(self, request_id: str, by: ClosedBy, at: datetime) -> bool:
        """Close a request for good, also an unreadable one. Return False if it is closed, or doesn't exist.

        A payment closes only one that can be paid once.
        """
        one = _one_not_closed(request_id)
        if by is ClosedBy.PAYMENT:
            one = one.where(_requests.is_reusable.is_(false()))
        return await self._change(one, _closed(by, at)) == 1

    async def save(self, request: PaymentRequest, at: datetime) -> bool:
        """Save what can change of a request. Return False if it was closed before, or doesn't exist."""
        row = {**self._seal(request), "used_at": at}
        return await self._change(_one_not_closed(request.id), {name: row[name] for name in CHANGEABLE}) == 1

    async def close_all(self, user_id: int, by: ClosedBy, at: datetime) -> int:
        """Lock all requests of a user until the transaction ends, close them, and return how many were open."""
        # As an update locks them. In one order, because several users' work can lock the same ones.
        in_order = ids_of_user(user_id).order_by(_requests.id)
        await self._connection.execute(in_order.with_for_update(key_share=True))
        all_open = update(payment_requests).where(_requests.user_id == user_id, ~IS_CLOSED)
        return await self._change(all_open, _closed(by, at))

    async def save_shared(self, request: PaymentRequest) -> None:
        """Save in which messages a request was shared."""
        shared = self._seal(request)["shared"]
        await self._change(update(payment_requests).where(_requests.id == request.id).values(shared=shared))

    async def shared_of_user(self, user_id: int) -> tuple[PaymentRequest, ...]:
        """Return the readable requests of a user that were shared."""
        return await self._find(select(payment_requests).where(IS_SHARED, _requests.user_id == user_id))

    async def shared_until(self, after: datetime, until: datetime) -> tuple[PaymentRequest, ...]:
        """Return the readable requests that were shared and whose time has ended within this one."""
        return await self._find(select(payment_requests).where(IS_SHARED, _requests.ends_at.between(after, until)))

    async def record_use(self, request_id: str, at: datetime) -> None:
        """Save that an order was made from a request's link, so that it isn't deleted for lack of use."""
        await self._change(update(payment_requests).where(_requests.id == request_id).values(used_at=at))

    def _to_row(self, value: PaymentRequest) -> dict[str, Any]:
        row: dict[str, Any] = {name: getattr(value, name) for name in NAMES}
        row["token_hash"] = hash_token(value.token)
        row["method"] = nested.from_method(value.method)
        row["status"] = str(value.status)
        row["closed_by"] = None if value.closed_by is None else str(value.closed_by)
        row["shared"] = None if value.shared is None else " ".join(value.shared)
        row["terms_seal"] = None if value.status is RequestStatus.CLOSED else _terms(value)
        return row

    def _to_value(self, known: dict[str, Any]) -> PaymentRequest:
        if hash_token(known["token"]) != known.pop("token_hash"):
            raise ValueError("the token of a link isn't that of its row")
        known["method"] = nested.to_method(known["method"])
        known["status"] = RequestStatus(known["status"])
        known["closed_by"] = None if known["closed_by"] is None else ClosedBy(known["closed_by"])
        known["shared"] = None if known["shared"] is None else tuple(known["shared"].split())
        sealed = known.pop("terms_seal")
        request = PaymentRequest(**known)
        if request.status is not RequestStatus.CLOSED and sealed != _terms(request):
            raise RowUnreadable("the status, the reuse, the end or the consent of a request was changed")
        return request


class ReportRepository(Repository[Report]):
    """Read and write payers' reports."""

    table = payment_request_reports

    async def add(self, report: Report) -> bool:
        """Save a report. Return False if this payer has reported the request already, and hasn't paid it since."""
        if report.reason.startswith(PAID):
            of_payer = delete(payment_request_reports).where(_reports.request_id == report.request_id)
            of_payer = of_payer.where(_reports.user_id == report.user_id, _reports.payer_hash == report.payer_hash)
            await self._change(of_payer.where(~_IS_OF_PAYER))
        return await self._insert(report)

    def _to_row(self, value: Report) -> dict[str, Any]:
        return {**asdict(value), "is_seen": False}

    async def count(self, request_id: str) -> Mapping[str, int]:
        """Return how many payers have reported a request, by their reason."""
        counted = select(_reports.reason, func.count()).where(_reports.request_id == request_id)
        found = await self._connection.execute(counted.group_by(_reports.reason).order_by(_reports.reason))
        return {reason: int(count) for reason, count in found}

    async def count_by(self, user_id: int, payer_hash: str, after: datetime) -> int:
        """Return how many requests a payer has reported after this time."""
        is_of_payer = (_reports.user_id == user_id) & (_reports.payer_hash == payer_hash)
        return await self._count(is_of_payer, _reports.at > after)

    async def count_unseen(self, user_id: int) -> int:
        """Return how many reports about a user's requests there are since an operator has looked."""
        return await self._count(_reports.request_id.in_(ids_of_user(user_id)), _reports.is_seen.is_(false()))

    async def count_unseen_requests(self) -> int:
        """Return how many of the reported requests no operator has looked at since."""
        ids = select(func.count(func.distinct(_reports.request_id)))
        unseen = ids.join(payment_requests, _requests.id == _reports.request_id).where(_reports.is_seen.is_(false()))
        return int(await self._connection.scalar(unseen.where(~IS_CLOSED | _IS_OF_PAYER)) or 0)

    async def mark_seen(self, user_id: int) -> None:
        """Save that an operator has looked at the reports about a user's requests."""
        about_user = update(payment_request_reports).where(_reports.request_id.in_(ids_of_user(user_id)))
        await self._change(about_user.values(is_seen=True))

    async def reported(self, *, limit: int) -> tuple[ReportedRequest, ...]:
        """Return the readable requests that were reported, the last reported first.

        Closed ones are left out, unless a payer who has paid reported them, and no operator has looked since.
        """
        reported = (
            select(_reports.request_id, func.count().label("reports"), func.max(_reports.at).label("last_at"))
            .join(payment_requests, _requests.id == _reports.request_id)
            .where(~IS_CLOSED | (_IS_OF_PAYER & _reports.is_seen.is_(false())))
            .group_by(_reports.request_id)
            .order_by(func.max(_reports.at).desc())
            .limit(limit)
        )
        found = (await self._connection.execute(reported)).mappings().all()
        requests = PaymentRequestRepository(self._tx)
        read = list[ReportedRequest]()
        for row in found:
            with suppress(RowUnreadable):  # it is recorded for the monitor
                if request := await requests.get(row["request_id"]):
                    read.append(ReportedRequest(request=request, reports=row["reports"], last_at=row["last_at"]))
        return tuple(read)


def _one_not_closed(request_id: str) -> Update:
    """Return the change of a request. A closed one stays closed, whoever else changes it at the same moment."""
    return update(payment_requests).where(_requests.id == request_id, ~IS_CLOSED)


def _closed(by: ClosedBy, at: datetime) -> dict[str, object]:
    """Return what closes a request. It needs no key, and without a seal nobody can open the request again."""
    return {"status": str(RequestStatus.CLOSED), "closed_by": str(by), "terms_seal": None, "used_at": at}


def _terms(request: PaymentRequest) -> str:
    """Return what decides whether and where a request that isn't closed can be paid."""
    ends_at = request.ends_at and request.ends_at.timestamp()
    return f"{request.status} {request.is_reusable} {ends_at} {request.in_browsers}"
