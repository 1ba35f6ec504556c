"""The terms of all features in the audit log."""

from typing import Final

from bot.broadcasts.model import AUDIT_TERMS as BROADCASTS
from bot.operations.reconciliation.service import AUDIT_TERMS as RECONCILIATION
from bot.operations.statistics_service import AUDIT_TERMS as OPERATIONS
from bot.payment_requests.audit import AUDIT_TERMS as PAYMENT_REQUESTS
from bot.staff.audit_terms import STAFF_TERMS
from bot.support.feature import AUDIT_TERMS as SUPPORT

TERMS: Final = STAFF_TERMS | BROADCASTS | OPERATIONS | PAYMENT_REQUESTS | RECONCILIATION | SUPPORT
