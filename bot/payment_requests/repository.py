"""Read and write payment requests and reports. What payers confirm never changes after a request was made."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, bindparam, delete, false, func, or_, select, true, update

from bot.infra.db import encryption, upsert
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault
from bot.orders.tables import orders
from bot.payment_requests.links import hash_token
from bot.payment_requests.model import PAID, ClosedBy, PaymentRequest, Report, ReportedRequest, RequestStatus
from bot.payment_requests.tables import IS_CLOSED, payment_request_reports, payment_requests
from bot.settlement import json_values as nested

NAMES: Final = tuple(field.name for field in fields(PaymentRequest))
CHANGEABLE: Final = ("status", "closed_by", "ends_at", "note", "used_at", "terms_seal")

_requests, _reports = payment_requests.c, payment_request_reports.c
ONE = select(payment_requests).where(_requests.id == bindparam("id"))
BY_TOKEN = select(payment_requests).where(_requests.token_hash == bindparam("hash"))
OF_DRAFT = select(payment_requests).where(_requests.draft_id == bindparam("draft"))
OF_USER = (
    select(payment_requests)
    .where(_requests.user_id == bindparam("user"))
    .order_by(_requests.created_at.desc(), _requests.id)
    .limit(bindparam("limit", type_=Integer()))
    .offset(bindparam("offset", type_=Integer()))
)
IDS_OF_USER = select(_requests.id).where(_requests.user_id == bindparam("user"))
# As an update locks them. In one order, because several users' work can lock the same ones.
LOCK_ONE = ONE.with_for_update(key_share=True)
LOCK_OF_USER = IDS_OF_USER.order_by(_requests.id).with_for_update(key_share=True)
USER_OF = select(_requests.user_id).where(_requests.id == bindparam("id"))
COUNT_IN_PROGRESS = (
    select(func.count())
    .select_from(orders)
    .where(orders.c.origin.in_(IDS_OF_USER), orders.c.is_paid, orders.c.ended_at.is_(None))
)
_HAS_NOT_ENDED = or_(_requests.ends_at.is_(None), _requests.ends_at > bindparam("now", type_=_requests.ends_at.type))
COUNT_OPEN = (
    select(func.count()).select_from(payment_requests).where(_requests.user_id == bindparam("user"), ~IS_CLOSED)
)
COUNT_OPEN = COUNT_OPEN.where(_HAS_NOT_ENDED)
COUNT_MADE = select(func.count()).select_from(payment_requests)
COUNT_MADE = COUNT_MADE.where(_requests.user_id == bindparam("user"), _requests.created_at > bindparam("after"))
# A closed request stays closed, whoever else changes it at the same moment.
CHANGE = update(payment_requests).where(_requests.id == bindparam("key"), ~IS_CLOSED)
CHANGE_PAID = CHANGE.where(_requests.is_reusable.is_(false()))
CHANGE_ALL = update(payment_requests).where(_requests.user_id == bindparam("user"), ~IS_CLOSED)
RECORD_USE = (
    update(payment_requests)
    .where(_requests.id == bindparam("key"))
    .values(used_at=bindparam("at", type_=_requests.used_at.type))
)
DELETE_OF_USER = delete(payment_requests).where(_requests.user_id == bindparam("user"))
DELETE_REPORTS_ABOUT = delete(payment_request_reports).where(
    _reports.request_id.in_(select(_requests.id).where(_requests.user_id == bindparam("user")))
)
DELETE_REPORTS_OF = delete(payment_request_reports).where(_reports.user_id == bindparam("user"))
UNUSED = (
    select(_requests.id)
    .where(_requests.used_at < bindparam("before", type_=_requests.used_at.type))
    .order_by(_requests.used_at)
    .limit(bindparam("limit", type_=Integer()))
)
DELETE_REPORTS_ABOUT_UNUSED = delete(payment_request_reports).where(_reports.request_id.in_(UNUSED))
DELETE_UNUSED = delete(payment_requests).where(_requests.id.in_(UNUSED))
REPORTS_BEFORE = select(_reports.id).where(_reports.at < bindparam("before", type_=_reports.at.type))
REPORTS_BEFORE = REPORTS_BEFORE.order_by(_reports.at).limit(bindparam("limit", type_=Integer()))
DELETE_REPORTS = delete(payment_request_reports).where(_reports.id.in_(REPORTS_BEFORE))
_IS_OF_PAYER = _reports.reason.startswith(PAID, autoescape=True)
_IS_ABOUT_USER = _reports.request_id.in_(IDS_OF_USER)
DELETE_BEFORE_PAID = delete(payment_request_reports).where(
    _reports.request_id == bindparam("request_id"), _reports.user_id == bindparam("user_id"), ~_IS_OF_PAYER
)
COUNT_REPORTS = select(_reports.reason, func.count()).where(_reports.request_id == bindparam("id"))
COUNT_REPORTS = COUNT_REPORTS.group_by(_reports.reason).order_by(_reports.reason)
COUNT_UNSEEN = select(func.count(_reports.id)).where(_IS_ABOUT_USER, _reports.is_seen.is_(false()))
COUNT_BY = select(func.count(_reports.id)).where(
    _reports.user_id == bindparam("user"), _reports.at > bindparam("after", type_=_reports.at.type)
)
MARK_SEEN = update(payment_request_reports).where(_IS_ABOUT_USER).values(is_seen=true())
HAS_REPORTED = select(_reports.id).where(_reports.user_id == bindparam("user")).limit(1)
REPORTED = (
    select(_reports.request_id, func.count().label("reports"), func.max(_reports.at).label("last_at"))
    .join(payment_requests, _requests.id == _reports.request_id)
    .where(~IS_CLOSED | (_IS_OF_PAYER & _reports.is_seen.is_(false())))
    .group_by(_reports.request_id)
    .order_by(func.max(_reports.at).desc())
    .limit(bindparam("limit", type_=Integer()))
)


class PaymentRequestRepository:
    """Read and write payment requests."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, request: PaymentRequest) -> bool:
        """Save a new request. Return False if its draft has already become one."""
        return await upsert.insert_new(self._connection, payment_requests, _row(request, self._vault))

    async def get(self, request_id: str) -> PaymentRequest | None:
        """Return the request with this id, of any user, or None."""
        return await self._one(ONE, {"id": request_id})

    async def lock(self, request_id: str) -> PaymentRequest | None:
        """Return the request with this id, or None. It stays locked until the transaction ends, also if unreadable."""
        return await self._one(LOCK_ONE, {"id": request_id})

    async def user_of(self, request_id: str) -> int | None:
        """Return whose request this is, also of an unreadable one. None if it doesn't exist."""
        return (await self._connection.execute(USER_OF, {"id": request_id})).scalar_one_or_none()

    async def find_by_token(self, token: str) -> PaymentRequest | None:
        """Return the request whose link has this token, in any status, or None."""
        return await self._one(BY_TOKEN, {"hash": hash_token(token)})

    async def of_draft(self, draft_id: str) -> PaymentRequest | None:
        """Return the request that a draft has become, or None."""
        return await self._one(OF_DRAFT, {"draft": draft_id})

    async def of_user(self, user_id: int, *, limit: int = 100, offset: int = 0) -> tuple[PaymentRequest, ...]:
        """Return the readable requests of a user, the newest first."""
        values = {"user": user_id, "limit": limit, "offset": offset}
        found = (await self._connection.execute(OF_USER, values)).mappings()
        return encryption.read_rows(self._vault, payment_requests, found, _request)

    async def count_in_progress(self, user_id: int) -> int:
        """Return how many paid orders from a user's links haven't ended."""
        return int((await self._connection.execute(COUNT_IN_PROGRESS, {"user": user_id})).scalar_one())

    async def count_open(self, user_id: int, now: datetime) -> int:
        """Return how many requests of a user can be paid, now or once they aren't paused."""
        return int((await self._connection.execute(COUNT_OPEN, {"user": user_id, "now": now})).scalar_one())

    async def count_made(self, user_id: int, after: datetime) -> int:
        """Return how many requests a user has made after this time, in any status."""
        return (await self._connection.execute(COUNT_MADE, {"user": user_id, "after": after})).scalar_one()

    async def close(self, request_id: str, by: ClosedBy, at: datetime) -> bool:
        """Close a request for good, also an unreadable one. Return False if it is closed, or doesn't exist.

        A payment closes only one that can be paid once.
        """
        statement = CHANGE_PAID if by is ClosedBy.PAYMENT else CHANGE
        return (await self._connection.execute(statement, {"key": request_id, **_closed(by, at)})).rowcount == 1

    async def save(self, request: PaymentRequest, at: datetime) -> bool:
        """Save what can change of a request. Return False if it was closed before, or doesn't exist."""
        row = {**_row(request, self._vault), "used_at": at}
        values = {name: row[name] for name in CHANGEABLE}
        return (await self._connection.execute(CHANGE, {"key": request.id, **values})).rowcount == 1

    async def close_all(self, user_id: int, by: ClosedBy, at: datetime) -> int:
        """Lock all requests of a user until the transaction ends, close them, and return how many were open."""
        await self._connection.execute(LOCK_OF_USER, {"user": user_id})
        return (await self._connection.execute(CHANGE_ALL, {"user": user_id, **_closed(by, at)})).rowcount

    async def delete_of_user(self, user_id: int) -> None:
        """Delete the requests of a user, the reports about them, and the user's own reports."""
        for statement in (DELETE_REPORTS_ABOUT, DELETE_REPORTS_OF, DELETE_OF_USER):
            await self._connection.execute(statement, {"user": user_id})

    async def record_use(self, request_id: str, at: datetime) -> None:
        """Save that an order was made from a request's link, so that it isn't deleted for lack of use."""
        await self._connection.execute(RECORD_USE, {"key": request_id, "at": at})

    async def delete_unused(self, before: datetime, limit: int) -> int:
        """Delete requests that were last used before, with the reports about them. Return how many requests."""
        await self._connection.execute(DELETE_REPORTS_ABOUT_UNUSED, {"before": before, "limit": limit})
        return (await self._connection.execute(DELETE_UNUSED, {"before": before, "limit": limit})).rowcount

    async def _one(self, statement: Any, values: Mapping[str, object]) -> PaymentRequest | None:  # noqa: ANN401  SQLAlchemy's
        row = (await self._connection.execute(statement, values)).mappings().first()
        return encryption.read_row(self._vault, payment_requests, dict(row), _request) if row else None


class ReportRepository:
    """Read and write payers' reports."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    async def add(self, report: Report) -> bool:
        """Save a report. Return False if this payer has reported the request already, and hasn't paid it since."""
        if report.reason.startswith(PAID):
            await self._tx.connection.execute(DELETE_BEFORE_PAID, asdict(report))
        row = {**asdict(report), "is_seen": False}
        return await upsert.insert_new(self._tx.connection, payment_request_reports, row)

    async def count(self, request_id: str) -> Mapping[str, int]:
        """Return how many payers have reported a request, by their reason."""
        found = await self._tx.connection.execute(COUNT_REPORTS, {"id": request_id})
        return {reason: int(count) for reason, count in found}

    async def count_by(self, user_id: int, after: datetime) -> int:
        """Return how many requests a user has reported after this time."""
        return int((await self._tx.connection.execute(COUNT_BY, {"user": user_id, "after": after})).scalar_one())

    async def count_unseen(self, user_id: int) -> int:
        """Return how many reports about a user's requests there are since an operator has looked."""
        return int((await self._tx.connection.execute(COUNT_UNSEEN, {"user": user_id})).scalar_one())

    async def mark_seen(self, user_id: int) -> None:
        """Save that an operator has looked at the reports about a user's requests."""
        await self._tx.connection.execute(MARK_SEEN, {"user": user_id})

    async def has_any(self, user_id: int) -> bool:
        """Return whether the user has reported a request."""
        return (await self._tx.connection.execute(HAS_REPORTED, {"user": user_id})).first() is not None

    async def reported(self, *, limit: int) -> tuple[ReportedRequest, ...]:
        """Return the readable requests that were reported, the last reported first.

        Closed ones are left out, unless a payer who has paid reported them, and no operator has looked since.
        """
        found = (await self._tx.connection.execute(REPORTED, {"limit": limit})).mappings().all()
        requests = PaymentRequestRepository(self._tx)
        read = list[ReportedRequest]()
        for row in found:
            with suppress(RowUnreadable):  # it is recorded for the monitor
                if request := await requests.get(row["request_id"]):
                    read.append(ReportedRequest(request=request, reports=row["reports"], last_at=row["last_at"]))
        return tuple(read)

    async def delete_old(self, before: datetime, limit: int) -> int:
        """Delete reports from before then, and return how many."""
        return (await self._tx.connection.execute(DELETE_REPORTS, {"before": before, "limit": limit})).rowcount


def _row(request: PaymentRequest, vault: Vault) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(request, name) for name in NAMES}
    row["token_hash"] = hash_token(request.token)
    row["method"] = nested.from_method(request.method)
    row["status"] = str(request.status)
    row["closed_by"] = None if request.closed_by is None else str(request.closed_by)
    row["terms_seal"] = None if request.status is RequestStatus.CLOSED else _terms(request)
    return encryption.seal_row(vault, payment_requests, row)


def _request(known: dict[str, Any]) -> PaymentRequest:
    if hash_token(known["token"]) != known.pop("token_hash"):
        raise ValueError("the token of a link isn't that of its row")
    known["method"] = nested.to_method(known["method"])
    known["status"] = RequestStatus(known["status"])
    known["closed_by"] = None if known["closed_by"] is None else ClosedBy(known["closed_by"])
    sealed = known.pop("terms_seal")
    request = PaymentRequest(**known)
    if request.status is not RequestStatus.CLOSED and sealed != _terms(request):
        raise RowUnreadable("the status, the reuse or the end of a request was changed")
    return request


def _closed(by: ClosedBy, at: datetime) -> dict[str, object]:
    """Return what closes a request. It needs no key, and without a seal nobody can open the request again."""
    return {"status": str(RequestStatus.CLOSED), "closed_by": str(by), "terms_seal": None, "used_at": at}


def _terms(request: PaymentRequest) -> str:
    """Return what decides whether a request that isn't closed can be paid."""
    return f"{request.status} {request.is_reusable} {request.ends_at and request.ends_at.timestamp()}"
