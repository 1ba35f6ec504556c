"""The feature of staff: operators and support agents, alarms, and the audit log."""

from collections.abc import Mapping
from datetime import timedelta
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
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.staff.user_data import USER_DATA


class Staff:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        operator_ids: the operators.
        agent_ids: the support agents.
        chat_id: the group where support agents work; 0 if each works in their private chat.
        contact: an address outside the bot to which users can write; empty for none.
        failed_payout_policy_url: where users can read what happens after a failed payout; empty for none.
        remind_after: the time after which operators are reminded of an alarm.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        operator_ids: frozenset[int],
        agent_ids: frozenset[int],
        chat_id: int,
        contact: str,
        failed_payout_policy_url: str,
        remind_after: timedelta,
    ) -> None:
        self.chat = StaffChat(chat_id, agent_ids)
        self.contacts = SupportContacts(self.chat, contact, failed_payout_policy_url)
        self._alarm_subjects = AlarmSubjects()
        self.alarms = AlarmService(
            infra.database,
            infra.clock,
            operator_ids,
            remind_after,
            infra.wake_outbox,
            subjects=self._alarm_subjects,
        )
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
