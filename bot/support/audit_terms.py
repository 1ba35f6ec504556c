"""What support writes to the audit log."""

from typing import Final

from bot.infra.i18n import Translator
from bot.staff.audit_terms import AuditTerms, name_as_written
from bot.staff.model import AuditEntry
from bot.support.reveal.model import Reason
from bot.support.ticket import CloseReason


def _user_id(_: Translator, entry: AuditEntry, __: str) -> str:
    return str(entry.user_id or "…")


AUDIT_TERMS: Final = AuditTerms(
    subjects={
        "order": name_as_written,
        "evidence": name_as_written,
        "service_order": name_as_written,
        "ticket": name_as_written,
        "person": _user_id,
        "answer": name_as_written,
    },
    details=frozenset({*Reason, *CloseReason, "added", "deleted"}),
)
