"""What operations write to the audit log."""

from typing import Final

from bot.staff.audit_terms import AuditTerms, name_as_written

AUDIT_TERMS: Final = AuditTerms(subjects={"orders": name_as_written})
