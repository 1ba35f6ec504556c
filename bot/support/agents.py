"""Build what support agents use: tickets, lookups, full recipients and saved replies. `support/feature.py` calls it."""

from bot.infra.feature import Infra, Worker
from bot.infra.workers import Wakeup
from bot.orders.feature import Orders
from bot.settlement.access import SettlementAccess
from bot.settlement.budget import Budget
from bot.staff.feature import Staff
from bot.support.lookup.handlers import LookupHandlers
from bot.support.lookup.service import LookupService
from bot.support.notifications.topics import TicketTopics
from bot.support.reveal.handlers import RevealHandlers, RevealMessages
from bot.support.reveal.masking import MaskingService
from bot.support.reveal.service import RevealService
from bot.support.saved_replies.handlers import SavedReplyHandlers, SendSavedReplyHandlers
from bot.support.saved_replies.service import SavedReplyService
from bot.support.service_orders import ServiceOrders
from bot.support.staff.edit_handlers import EditHandlers
from bot.support.staff.guide_handlers import AgentGuide
from bot.support.staff.handlers import StaffChatHandlers, StaffTicketHandlers
from bot.support.staff.messages import TicketMessages
from bot.support.staff.refresh import OrderRefresh
from bot.support.staff.replies import ReplyHandlers
from bot.support.staff.session import StaffSessions
from bot.support.staff.ticket_pages import TicketPages
from bot.support.tickets.corrections import TicketCorrectionService
from bot.support.tickets.staff_service import StaffTicketService

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
        corrections = TicketCorrectionService(database, clock, staff.chat)
        sessions = StaffSessions(infra, staff.chat)
        messages = TicketMessages(database)
        ticket_pages = TicketPages(database, messages)
        service_orders = ServiceOrders(database, access.settlement, clock, Budget(LOOKUPS_PER_SECOND))
        lookups = LookupHandlers(
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
            add_job=infra.chat_jobs.add,
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
        buttons = StaffTicketHandlers(
            sessions=sessions,
            database=database,
            messages=messages,
            tickets=tickets,
            ticket_pages=ticket_pages,
            order_refresh=OrderRefresh(
                infra, settlement=access.settlement, observer=orders.observer, topics=self.topics
            ),
        )
        written = ReplyHandlers(infra, sessions=sessions, messages=messages, tickets=tickets, corrections=corrections)
        self.guide = AgentGuide(infra, sessions=sessions, staff_chat=staff.chat)
        """The start and the help of agents."""

        group = StaffChatHandlers(sessions=sessions, topics=self.topics)
        self.routes = (
            buttons.routes(),
            written.routes(),
            reveals.routes(),
            saved_replies.routes(),
            sending.routes(),
            lookups.routes(),
            self.guide.routes(),
        )
        self.edit_handler = EditHandlers(corrections=corrections, staff_sessions=sessions, replies=written).handler()
        self.answers = {**reveals.answers(), **saved_replies.answers()}
        self.handlers = (
            written.handler({**buttons.questions(), **written.questions()}),
            written.conversation_handler(),
            group.moved_handler(),
            lookups.forwarded_handler(),
            *group.last_handlers(kind for routes in self.routes for kind in routes.button_kinds()),
        )
        """The handlers after the routes: of replies, of forwarded messages, and of presses without a route."""
        self.worker = Worker("masking", masking.mask_due, to_mask)
        self.jobs = masking.jobs()
        self.begin_to_lead = masking.begin_to_lead
        self.close = masking.close
        """Mask the recipients that this process shows before it stops."""
