"""Support: tickets, lookups, full recipients and saved replies."""

from datetime import timedelta
from functools import partial

from bot.infra.feature import Feature, HandlerPhase, Infra, Worker
from bot.infra.outbox.follow_ups import chain_follow_ups
from bot.orders.buttons import OrderAction
from bot.orders.feature import Orders
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import Settlement
from bot.staff.feature import Staff
from bot.support.agents import SupportAgents
from bot.support.audit_terms import AUDIT_TERMS
from bot.support.metrics import refresh_gauges
from bot.support.notifications import posts, replies
from bot.support.notifications.remarks import RemarkMessages
from bot.support.notifications.reminders import ReminderMessages
from bot.support.notifications.staff_chat import StaffChatMessages
from bot.support.notifications.staff_chat_results import StaffChatResults, save_moved_chat
from bot.support.notifications.topics import TicketTopics
from bot.support.notifications.user_chat import UserChatMessages
from bot.support.reply_time import ReplyTime
from bot.support.staff.edit_handlers import EditHandlers
from bot.support.tickets.corrections import TicketCorrectionService
from bot.support.tickets.order_tickets import OrderTicketListener
from bot.support.tickets.reminders import TicketReminderService
from bot.support.tickets.staff_service import StaffTicketService
from bot.support.tickets.user_service import UserTicketService
from bot.support.user_chat.facts import FactReader
from bot.support.user_chat.first_contact import FirstContact
from bot.support.user_chat.handlers import UserTicketHandlers
from bot.support.user_chat.help_handlers import HelpHandlers
from bot.support.user_chat.message_handlers import UserMessageHandlers
from bot.support.user_data import USER_DATA
from bot.users.provider import Provider


class Support:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        settlement: reads the state of a ticket's order.
        catalogue: lists the payout methods that a lookup can name.
        staff: the chats in which agents work, and the contacts that users can ask.
        orders: what tickets are about. Support opens tickets about orders that need help.
        provider: who runs the bot.
        operator_ids: the operators. They are reminded if support doesn't reply after its reminder.
        reopen_within: how long after a ticket was closed its user can reopen it.
        remind_after: how long a ticket waits for a reply before support is reminded.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        settlement: Settlement,
        catalogue: ServiceCatalogue,
        staff: Staff,
        orders: Orders,
        provider: Provider,
        operator_ids: frozenset[int],
        reopen_within: timedelta,
        remind_after: timedelta,
    ) -> None:
        database, messenger, clock = infra.database, infra.messenger, infra.clock
        staff_chat, contacts, wake = staff.chat, staff.contacts, infra.wake_outbox
        topics = TicketTopics(database, messenger, clock)
        user_tickets = UserTicketService(database, clock, staff_chat, wake, reopen_within=reopen_within)
        corrections = TicketCorrectionService(database, clock, staff_chat, wake)
        reply_time = ReplyTime(database, clock)
        agents = SupportAgents(
            infra,
            settlement=settlement,
            catalogue=catalogue,
            observer=orders.observer,
            staff_chat=staff_chat,
            topics=topics,
            tickets=StaffTicketService(database, clock, staff_chat, wake),
            corrections=corrections,
        )
        reminders = TicketReminderService(
            database, clock, staff_chat, wake, operator_ids=operator_ids, remind_after=remind_after
        )
        facts = FactReader(
            rules=orders.service.rules,
            payout_times=orders.payout_times,
            contacts=contacts,
            catalogue=catalogue,
        )
        help_handlers = HelpHandlers(database=database, facts=facts, contacts=contacts, provider=provider)
        messages = UserMessageHandlers(
            database=database, messenger=messenger, tickets=user_tickets, reply_time=reply_time, contacts=contacts
        )
        handlers = UserTicketHandlers(
            database=database,
            messenger=messenger,
            contacts=contacts,
            tickets=user_tickets,
            messages=messages,
            help_handlers=help_handlers,
        )
        user_chat = UserChatMessages(reopen_within=reopen_within, reply_time=reply_time)
        self.feature = Feature(
            name="support",
            user_data=USER_DATA,
            order_actions={OrderAction.HELP: handlers.ask_about},
            order_listeners=(OrderTicketListener(staff_chat),),
            describe_ticket=user_chat.describe_ticket,
            on_idle_message=(handlers.offer_to_forward,),
            read_welcome_facts=FirstContact(facts=facts, provider=provider, clock=clock).read,
            routes=(handlers.routes(), help_handlers.routes(), *agents.routes),
            answers={**messages.answers(), **agents.answers},
            handlers={
                HandlerPhase.CORRECTIONS: (
                    EditHandlers(corrections=corrections, staff_sessions=agents.sessions).handler(),
                ),
                HandlerPhase.QUESTIONS: (*agents.handlers, messages.handler()),
            },
            renderers=(
                replies.RENDERERS,
                RemarkMessages(topics).renderers(),
                ReminderMessages(staff_chat).renderers(),
                StaffChatMessages(topics).renderers(),
                user_chat.renderers(),
            ),
            follow_ups=chain_follow_ups(
                posts.FOLLOW_UPS,
                replies.ReplyResults(staff_chat).follow_ups(),
                StaffChatResults(staff_chat, operator_ids).follow_ups(),
            ),
            on_chat_moved=(save_moved_chat,),
            workers=(Worker("tickets", reminders.tick), agents.worker),
            jobs=agents.jobs,
            on_lead=agents.begin_to_lead,
            gauges=(partial(refresh_gauges, infra.database, infra.clock),),
            close=agents.close,
            audit_terms=AUDIT_TERMS,
        )
