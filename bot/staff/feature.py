"""The feature of staff: operators and support agents, alarms, and the audit log."""

from collections.abc import Mapping
from functools import partial

from bot.infra.feature import Feature, Infra
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_subjects import AlarmSubjects, LoadAlarmSubject
from bot.staff.alarms import AlarmService
from bot.staff.audit import AuditLog
from bot.staff.audit_terms import AuditTerms
from bot.staff.handlers import AuditHandlers
from bot.staff.metrics import refresh_gauges
from bot.staff.notifications import AlarmMessages
from bot.staff.rules import StaffRules
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.staff.user_data import USER_DATA


class Staff:
    """Build the feature."""

    def __init__(self, infra: Infra, rules: StaffRules) -> None:
        self.chat = StaffChat(rules.chat_id, rules.agent_ids)
        self.contacts = SupportContacts(self.chat, rules.contact, rules.failed_payout_policy_url)
        self._alarm_subjects = AlarmSubjects()
        self.alarms = AlarmService(infra, rules, self._alarm_subjects)
        self._audit_handlers = AuditHandlers(audit_log=AuditLog(infra.database, infra.clock), messenger=infra.messenger)
        self.feature = Feature(
            name="staff",
            user_data=USER_DATA,
            gauges=(partial(refresh_gauges, infra.database),),
            routes=(self._audit_handlers.routes(),),
            renderers=(AlarmMessages(self._alarm_subjects).renderers(),),
            on_lead=self.alarms.begin_to_lead,
        )

    def add_alarm_subjects(self, loaders: Mapping[AlarmKind, LoadAlarmSubject]) -> None:
        """Register a feature's loaders for the subjects of these kinds of alarm."""
        self._alarm_subjects.add(loaders)

    def add_audit_terms(self, terms: AuditTerms) -> None:
        """Show another feature's audit entries with its terms."""
        self._audit_handlers.add_terms(terms)
