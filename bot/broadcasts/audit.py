"""Audit entries about broadcasts."""

from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.staff.audit import record_audit
from bot.staff.audit_terms import AuditTerms, name_as_written
from bot.staff.model import AuditAction

CONFIRMED: Final = "confirmed"
CANCELLED: Final = "called_off"
RETRIED: Final = "again"

AUDIT_TERMS: Final = AuditTerms(
    subjects={"broadcast": name_as_written},
    details=frozenset({CONFIRMED, CANCELLED, RETRIED, "running", "paused", "stopped"}),
)


async def record_decision(tx: Transaction, by: int, broadcast_id: str, decision: str, now: datetime) -> None:
    """Record in this transaction what the operator `by` decided about a broadcast."""
    await record_audit(tx, by, AuditAction.BROADCAST, f"broadcast:{broadcast_id}", now, detail=decision)
