"""Support: tickets, lookups, full recipients and saved replies."""

from typing import Final

from bot.infra.feature import Feature, HandlerPhase, Infra, Worker
from bot.infra.outbox.follow_ups import chain_follow_ups
from bot.infra.telegram.ui.reader import Reader
from bot.orders.buttons import OrderAction
from bot.orders.feature import Orders
from bot.settlement.access import SettlementAccess
from bot.staff.audit_terms import AuditTerms, name_as_written
from bot.staff.feature import Staff
from bot.staff.model import AuditEntry
from bot.support.agents import SupportAgents
from bot.support.notifications import bot_messages, replies
from bot.support.notifications.remarks import RemarkMessages
from bot.support.notifications.reminders import ReminderMessages
from bot.support.notifications.send_questions import SendQuestions
from bot.support.notifications.staff_chat import StaffChatMessages
from bot.support.notifications.staff_chat_results import StaffChatResults, save_moved_chat
from bot.support.notifications.user_chat import UserChatMessages
from bot.support.reply_time import ReplyTime
from bot.support.reveal.model import Reason
from bot.support.rules import SupportRules
from bot.support.ticket import CloseReason
from bot.support.tickets.order_tickets import OrderTicketListener
from bot.support.tickets.reminders import TicketReminderService
from bot.support.tickets.user_service import UserTicketService
from bot.support.user_chat.facts import FactReader, FirstContact
from bot.support.user_chat.handlers import UserTicketHandlers
from bot.support.user_chat.help_handlers import HelpHandlers
from bot.support.user_chat.message_handlers import UserMessageHandlers
from bot.support.user_data import USER_DATA


def _name_user(reader: Reader, entry: AuditEntry, _: str) -> str:
    return reader.format_user(entry.user_id) if entry.user_id else "…"


AUDIT_TERMS: Final = AuditTerms(
    subjects={
        "order": name_as_written,
        "evidence": name_as_written,
        "service_order": name_as_written,
        "ticket": name_as_written,
        "person": _name_user,
        "answer": name_as_written,
    },
    details=frozenset({*Reason, *CloseReason, "added", "deleted"}),
)
"""What support writes to the audit log."""


class Support:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        access: the service, which reports a ticket's order and lists the payout methods that a lookup can name.
        staff: the chats in which agents work, and the contacts that users can ask.
        orders: what tickets are about. Support opens tickets about orders that need help.
        rules: the settings of support.
    """

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        *,
        staff: Staff,
        orders: Orders,
        rules: SupportRules,
    ) -> None:
        database, clock = infra.database, infra.clock
        agents = SupportAgents(infra, access, staff=staff, orders=orders)
        reply_time = ReplyTime(database, clock)
        user_tickets = UserTicketService(database, clock, staff.chat, reopen_within=rules.reopen_within)
        reminders = TicketReminderService(
            database, clock, staff.chat, operator_ids=rules.operator_ids, remind_after=rules.remind_after
        )
        facts = FactReader(
            rules=orders.service.rules,
            payout_times=orders.payout_times,
            contacts=staff.contacts,
            catalogue=access.catalogue,
        )
        first_contact = FirstContact(facts=facts, catalogue=access.catalogue, provider=rules.provider, clock=clock)
        help_handlers = HelpHandlers(database=database, facts=facts, contacts=staff.contacts, provider=rules.provider)
        messages = UserMessageHandlers(infra, tickets=user_tickets, reply_time=reply_time, contacts=staff.contacts)
        handlers = UserTicketHandlers(
            infra, tickets=user_tickets, messages=messages, help_handlers=help_handlers, contacts=staff.contacts
        )
        user_chat = UserChatMessages(reopen_within=rules.reopen_within, reply_time=reply_time)
        self.feature = Feature(
            name="support",
            user_data=USER_DATA,
            order_actions={OrderAction.HELP: handlers.ask_about},
            order_listeners=(OrderTicketListener(staff.chat),),
            describe_ticket=user_chat.describe_ticket,
            on_idle_message=(handlers.offer_to_forward,),
            read_welcome_facts=first_contact.read,
            read_staff_start=agents.guide.read_start,
            read_staff_help=agents.guide.read_help,
            routes=(handlers.routes(), help_handlers.routes(), *agents.routes),
            answers={**messages.answers(), **agents.answers},
            handlers={
                HandlerPhase.CORRECTIONS: (agents.edit_handler,),
                HandlerPhase.QUESTIONS: (*agents.handlers, messages.handler()),
            },
            renderers=(
                replies.RENDERERS,
                RemarkMessages(agents.topics).renderers(),
                SendQuestions(agents.topics).renderers(),
                ReminderMessages(staff.chat).renderers(),
                StaffChatMessages(agents.topics).renderers(),
                user_chat.renderers(),
            ),
            follow_ups=chain_follow_ups(
                bot_messages.FOLLOW_UPS,
                replies.ReplyResults(staff.chat).follow_ups(),
                StaffChatResults(staff.chat, rules.operator_ids).follow_ups(),
            ),
            on_chat_moved=(save_moved_chat,),
            workers=(Worker("tickets", reminders.tick), agents.worker),
            jobs=agents.jobs,
            on_lead=agents.begin_to_lead,
            close=agents.close,
            audit_terms=AUDIT_TERMS,
        )
