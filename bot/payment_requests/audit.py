"""Audit entries about payment requests."""

from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.payment_requests.model import PaymentRequest
from bot.staff.audit import record_audit
from bot.staff.audit_terms import AuditTerms, name_as_written
from bot.staff.model import AuditAction

ALL_OF_USER: Final = "all_of_user"
"""The detail of an entry about closing all requests of the asker."""

AUDIT_TERMS: Final = AuditTerms(subjects={"payment_request": name_as_written}, details=frozenset({ALL_OF_USER}))


async def record_look(tx: Transaction, by: int, request: PaymentRequest, now: datetime) -> None:
    """Record in this transaction that the operator `by` looks at a request."""
    await record_audit(tx, by, AuditAction.LOOKED, f"payment_request:{request.id}", now, user_id=request.user_id)


async def record_closing(
    tx: Transaction, by: int, request_id: str, now: datetime, *, user_id: int, detail: str = ""
) -> None:
    """Record in this transaction that the operator `by` closes a request, or all of its asker `user_id`."""
    subject = f"payment_request:{request_id}"
    await record_audit(tx, by, AuditAction.CLOSED, subject, now, user_id=user_id, detail=detail)
