"""The feature of staff: operators and support agents, alarms, and the audit log."""

from bot.infra.feature import Feature, Infra
from bot.staff.alarms import AlarmService
from bot.staff.audit import AuditLog, AuditTerms
from bot.staff.handlers import AuditHandlers
from bot.staff.model import AlarmSubjects, LoadSubject, StaffRules
from bot.staff.notifications import AlarmMessages
from bot.staff.staff_chat import StaffChat, SupportContacts


class Staff:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        load_order: loads the order that an alarm is about.
        audit_terms: what all features write to the audit log.
        rules: the settings of staff.
    """

    def __init__(self, infra: Infra, *, load_order: LoadSubject, audit_terms: AuditTerms, rules: StaffRules) -> None:
        self.chat = StaffChat(rules.chat_id, rules.agent_ids)
        self.contacts = SupportContacts(self.chat, rules.contact, rules.failed_payout_policy_url)
        self.service_contact = rules.service_contact
        subjects = AlarmSubjects(load_order)
        self.alarms = AlarmService(infra, rules, subjects)
        audit_handlers = AuditHandlers(AuditLog(infra.database, infra.clock), audit_terms)
        self.feature = Feature(
            name="staff",
            routes=(audit_handlers.routes(),),
            renderers=(AlarmMessages(subjects, rules.service_contact).renderers(),),
            on_lead=self.alarms.begin_to_lead,
        )
