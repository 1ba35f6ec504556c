"""Support: tickets, lookups, full recipients and saved replies."""

from typing import Final

from bot.infra.feature import Feature, Infra, Worker
from bot.infra.telegram.ui.reader import Reader
from bot.infra.workers import Wakeup
from bot.orders.feature import Orders
from bot.settlement.access import SettlementAccess
from bot.settlement.budget import Budget
from bot.staff.audit import AuditTerms, name_as_written
from bot.staff.feature import Staff
from bot.staff.model import AuditEntry
from bot.support.help import FactReader, HelpPages
from bot.support.lookup_handlers import LookupHandlers
from bot.support.lookups import LookupService
from bot.support.model import CloseReason, Reason, SupportRules
from bot.support.next_ticket import NextTicketHandlers
from bot.support.replies import ReplyHandlers
from bot.support.reveal_handlers import RevealHandlers
from bot.support.reveals import MaskingService, RevealMessages, RevealService
from bot.support.saved_replies import SavedReplyService
from bot.support.saved_reply_handlers import SavedReplyHandlers, SendSavedReplyHandlers
from bot.support.service import TicketReminderService, UserTicketService
from bot.support.service_orders import ServiceOrders
from bot.support.session import StaffSessions, TicketMessages, TicketPages
from bot.support.staff_handlers import AgentGuide, OrderRefresh, StaffChatHandlers, StaffTicketHandlers
from bot.support.staff_messages import StaffMessages
from bot.support.staff_service import PAUSED, StaffTicketService
from bot.support.topics import TicketTopics
from bot.support.user_data import USER_DATA
from bot.support.user_handlers import UserMessageHandlers, UserTicketHandlers
from bot.support.user_messages import ReplyTime, UserMessages

LOOKUPS_PER_SECOND = 2.0
"""Orders that a process reads for support at most, so that polling keeps nearly all of the service's limit."""


class SupportAgents:
    """Build the part for support agents.

    Args:
        infra: what every feature is built on.
        access: the service, which reports orders and lists the payout methods that a lookup can name.
        staff: the chats in which support agents work.
        orders: saves what the service reports of an order.
    """

    def __init__(self, infra: Infra, access: SettlementAccess, *, staff: Staff, orders: Orders) -> None:
        database, clock, messenger = infra.database, infra.clock, infra.messenger
        self.topics = TicketTopics(infra)
        """The cards and topics of tickets, which notifications update."""

        tickets = StaffTicketService(database, clock, staff.chat)
        self.sessions = sessions = StaffSessions(infra, staff.chat)
        messages = TicketMessages(database)
        ticket_pages = TicketPages(database, messages)
        service_orders = ServiceOrders(database, access.settlement, clock, Budget(LOOKUPS_PER_SECOND))
        self.lookups = lookups = LookupHandlers(
            sessions=sessions,
            database=database,
            lookups=LookupService(database, access.catalogue, clock),
            service_orders=service_orders,
            messages=messages,
            ticket_pages=ticket_pages,
        )
        to_mask = Wakeup()
        reveal_messages = RevealMessages(infra)
        masking = MaskingService(
            database=database,
            clock=clock,
            staff_chat=staff.chat,
            screen=reveal_messages,
            add_job=infra.inbox.add_job,
            on_change=to_mask,
        )
        reveals = RevealHandlers(
            sessions=sessions,
            messenger=messenger,
            reveals=RevealService(
                database=database,
                clock=clock,
                staff_chat=staff.chat,
                screen=reveal_messages,
                masking=masking,
                service_orders=service_orders,
            ),
        )
        known_replies = SavedReplyService(database, clock)
        saved_replies = SavedReplyHandlers(infra, sessions=sessions, saved_replies=known_replies)
        sending = SendSavedReplyHandlers(
            infra, sessions=sessions, messages=messages, saved_replies=known_replies, tickets=tickets
        )
        order_refresh = OrderRefresh(infra, settlement=access.settlement, tracker=orders.tracker, topics=self.topics)
        next_ticket = NextTicketHandlers(
            infra,
            sessions=sessions,
            messages=messages,
            tickets=tickets,
            ticket_pages=ticket_pages,
            order_refresh=order_refresh,
        )
        buttons = StaffTicketHandlers(
            sessions=sessions,
            database=database,
            messages=messages,
            tickets=tickets,
            ticket_pages=ticket_pages,
            order_refresh=order_refresh,
            staff=staff,
        )
        self.replies = ReplyHandlers(
            infra, sessions=sessions, messages=messages, tickets=tickets, answers=buttons.questions()
        )
        self.guide = AgentGuide(infra, sessions=sessions, staff_chat=staff.chat)
        """The start and the help of agents."""

        self.routes = (
            buttons.routes(),
            self.replies.routes(),
            reveals.routes(),
            saved_replies.routes(),
            sending.routes(),
            next_ticket.routes(),
            *lookups.routes(),
            self.guide.routes(),
        )
        self.answers = {**reveals.answers(), **saved_replies.answers()}
        self.staff_chat = StaffChatHandlers(database, sessions=sessions, routes=self.routes)
        self.worker = Worker("masking", masking.mask_due, to_mask)
        self.jobs = masking.jobs()
        self.begin_to_lead = masking.begin_to_lead
        self.close = masking.close
        """Mask the recipients that this process shows before it stops."""


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
    details=frozenset({*Reason, *CloseReason, "added", "deleted", PAUSED}),
)
"""What support writes to the audit log."""


class Support:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        access: the service, which reports a ticket's order and lists the payout methods that a lookup can name.
        staff: the chats in which agents work, and the contacts that users can ask.
        orders: what tickets are about. Support opens tickets about orders that need help.
        reply_time: how long the first reply to a user takes.
        rules: the settings of support.
    """

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        *,
        staff: Staff,
        orders: Orders,
        reply_time: ReplyTime,
        rules: SupportRules,
    ) -> None:
        database, clock = infra.database, infra.clock
        self.agents = agents = SupportAgents(infra, access, staff=staff, orders=orders)
        user_tickets = UserTicketService(database, clock, staff.chat, reopen_within=rules.reopen_within)
        reminders = TicketReminderService(
            database, clock, staff.chat, operator_ids=rules.operator_ids, remind_after=rules.remind_after
        )
        self.facts = FactReader(
            rules=orders.service.rules,
            payout_times=orders.payout_times,
            contacts=staff.contacts,
            catalogue=access.catalogue,
        )
        self.help_pages = HelpPages(
            database=database, facts=self.facts, contacts=staff.contacts, provider=rules.provider, can_ask=rules.can_ask
        )
        self.messages = messages = UserMessageHandlers(
            infra, tickets=user_tickets, reply_time=reply_time, contacts=staff.contacts
        )
        self.user_tickets = UserTicketHandlers(
            infra, tickets=user_tickets, messages=messages, help_pages=self.help_pages, contacts=staff.contacts
        )
        user_messages = UserMessages(staff.chat, reopen_within=rules.reopen_within)
        staff_messages = StaffMessages(agents.topics, staff.chat, rules.operator_ids)
        self.feature = Feature(
            name="support",
            user_data=USER_DATA,
            routes=(self.user_tickets.routes(), *agents.routes),
            answers={**messages.answers(), **agents.answers},
            renderers=(staff_messages.renderers(), user_messages.renderers()),
            follow_ups={**staff_messages.follow_ups(), **user_messages.follow_ups()},
            workers=(Worker("tickets", reminders.tick), agents.worker),
            jobs=agents.jobs,
            on_lead=agents.begin_to_lead,
        )
