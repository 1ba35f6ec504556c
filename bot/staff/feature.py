"""The feature of staff: operators and support agents, alarms, and the audit log."""

from bot.infra.feature import Feature, Infra
from bot.staff.alarm_subjects import AlarmSubjects
from bot.staff.alarms import AlarmService
from bot.staff.audit import AuditLog
from bot.staff.audit_terms import STAFF_TERMS
from bot.staff.handlers import AuditHandlers
from bot.staff.notifications import AlarmMessages
from bot.staff.rules import StaffRules
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.staff.user_data import USER_DATA


class Staff:
    """Build the feature."""

    def __init__(self, infra: Infra, rules: StaffRules) -> None:
        self.chat = StaffChat(rules.chat_id, rules.agent_ids)
        self.contacts = SupportContacts(self.chat, rules.contact, rules.failed_payout_policy_url)
        self.service_contact = rules.service_contact
        self.alarms = AlarmService(infra, rules)
        audit_handlers = AuditHandlers(infra, AuditLog(infra.database, infra.clock))
        self.feature = Feature(
            name="staff",
            user_data=USER_DATA,
            audit_terms=STAFF_TERMS,
            routes=(audit_handlers.routes(),),
            renderers=(AlarmMessages(AlarmSubjects(infra.features), rules.service_contact).renderers(),),
            on_lead=self.alarms.begin_to_lead,
        )
