"""Handle support agents' buttons of tickets, their start and help, the language and the new id of the staff's group."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import tzinfo
from functools import partial
from typing import Final

from telegram import Message, Update

from bot.core.errors import Rejection
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.feature import Infra
from bot.infra.logging import bind_fields
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Gone, Invalid
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.messages import order_subject
from bot.orders.order import Order
from bot.orders.tracking.tracker import OrderTracker
from bot.settlement.client import SettlementClient
from bot.settlement.errors import SettlementFailure, SlowDown
from bot.settlement.model import OrderReport
from bot.staff.audit import record_audit
from bot.staff.feature import Staff
from bot.staff.model import AlarmKind, AuditAction, OnHandled
from bot.staff.outcomes import MONEY_OUTCOMES, Outcome
from bot.staff.staff_chat import StaffChat
from bot.support.buttons import GroupLanguageButton, StaffTicketAction, StaffTicketButton
from bot.support.cases import order_of
from bot.support.model import NOTE, CloseReason, Ticket, TicketClosed, TicketFilter
from bot.support.replies import read_reply
from bot.support.repository import TicketRepository
from bot.support.screens import staff as staff_screens
from bot.support.service import tell_ticket
from bot.support.session import (
    StaffSession,
    StaffSessions,
    TakeReply,
    TicketMessages,
    TicketPages,
    TicketReply,
    alert_on_rejection,
    ask_agent,
)
from bot.support.staff_service import StaffTicketService
from bot.support.topics import TicketTopics, move_group
from bot.users.repository import GroupRepository
from bot.users.session import Session

LONGEST_WAIT: Final = 2.0
"""Longest pause before the second read, in seconds."""


class OrderRefresh:
    """Refresh the order of a ticket for a support agent. The audit log records the agent."""

    def __init__(
        self, infra: Infra, *, settlement: SettlementClient, tracker: OrderTracker, topics: TicketTopics
    ) -> None:
        self._database = infra.database
        self._settlement = settlement
        self._tracker = tracker
        self._topics = topics

    async def refresh(self, staff: StaffSession, ticket: Ticket) -> None:
        """Read the order from the service, save it, and show the difference."""
        async with self._database.reading() as tx:
            order = await order_of(tx, ticket)
        if order is None or order.service_id is None:
            await staff.toast("support.staff_ticket.nothing_to_read", alert=True)
            return
        await staff.toast("support.staff_ticket.reading")
        report = await self.read(staff, order)
        if report is None:
            await staff.say(Screen(staff.t("support.staff_ticket.unreadable", at=_time(staff))))
            return
        async with self._database.reading() as tx:
            after = await order_of(tx, ticket) or order
        await self._show(staff, ticket)
        lines = staff_screens.format_differences(staff.t, order, after, report)
        heading = "support.staff_ticket.has_changed" if lines else "support.staff_ticket.unchanged"
        # Send it as a new message, since the next update of the card would replace it within a second.
        await staff.say(Screen("\n".join([staff.t(heading, at=_time(staff)), *lines])))

    async def read(self, staff: StaffSession, order: Order) -> OrderReport | None:
        """Read an order from the service, save what has changed, and return the report. None if there is none now."""
        async with self._database.transaction() as tx:
            subject = order_subject(order)
            await record_audit(tx, staff.user.id, AuditAction.LOOKED, subject, staff.now, user_id=order.user_id)
        try:
            report = await self._read(order.service_id or "")
        except SettlementFailure:
            return None
        await self._tracker.apply_report(order.reference, report, asked_at=staff.now)
        return report

    async def _read(self, service_id: str) -> OrderReport:
        """Read an order. If the service asks to wait, wait and read again.

        The service allows one read of an order a second (settlement API, 6.3). The poller may have used it.

        Raises:
            SettlementFailure: the order can't be read now.
        """
        try:
            return await self._settlement.look_up(service_id)
        except SlowDown as limited:
            await asyncio.sleep(min(limited.retry_after or LONGEST_WAIT, LONGEST_WAIT))
            return await self._settlement.look_up(service_id)

    async def _show(self, staff: StaffSession, ticket: Ticket) -> None:
        """Show the ticket as it is now, in place of the pressed message."""
        async with self._database.reading() as tx:
            current = await TicketRepository(tx).get(ticket.reference) or ticket
        reader = Reader(staff.t, _zone(staff), staff.now)
        await staff.edit_message(await self._topics.render_card(reader, current, has_topic=staff.topic_id is not None))


def _zone(staff: StaffSession) -> tzinfo:
    return staff.user.zone if staff.is_private else PRESUMED


def _time(staff: StaffSession) -> str:
    return staff.t.seconds(staff.now, _zone(staff))


TAKE_OVER: Final = "take_over"
CLOSE: Final = "close"
REASONS: Final = {str(reason): reason for reason in CloseReason}
OUTCOMES: Final = {str(outcome): outcome for outcome in MONEY_OUTCOMES}

_Action = Callable[[StaffSession, Ticket, str], Awaitable[None]]


class StaffTicketHandlers:
    """Handle support agents' buttons of tickets."""

    def __init__(
        self,
        *,
        sessions: StaffSessions,
        database: Database,
        messages: TicketMessages,
        tickets: StaffTicketService,
        ticket_pages: TicketPages,
        order_refresh: OrderRefresh,
        staff: Staff,
    ) -> None:
        self._sessions = sessions
        self._database = database
        self._messages = messages
        self._tickets = tickets
        self._ticket_pages = ticket_pages
        self._order_refresh = order_refresh
        self._alarms, self._staff_chat = staff.alarms, staff.chat

    def routes(self) -> Routes[StaffSession]:
        """Return the buttons."""
        routes = self._sessions.routes()
        actions: Mapping[StaffTicketAction, _Action] = {
            StaffTicketAction.CLAIM: self._claim,
            StaffTicketAction.TAKE_OVER: self._take_over,
            StaffTicketAction.CLOSE: self._close,
            StaffTicketAction.CLOSE_AS: self._close_as,
            StaffTicketAction.REOPEN: self._reopen,
            StaffTicketAction.SEND_AGAIN: self._send_again,
            StaffTicketAction.REFRESH: self._refresh,
            StaffTicketAction.SEND_UNDECIDED: self._send_undecided,
            StaffTicketAction.KEEP_UNDECIDED: self._keep_undecided,
            StaffTicketAction.ASK_OUTCOME: self._ask_outcome,
            StaffTicketAction.RECORD_OUTCOME: self._record_outcome,
            StaffTicketAction.UNDO_OUTCOME: self._undo_outcome,
        }
        routes.add_actions(StaffTicketButton, self.ticket_button, actions)
        return routes

    def questions(self) -> Mapping[str, TakeReply]:
        """Return the handlers of replies, by question."""
        return {TAKE_OVER: self._take_over_with_note, CLOSE: self._ask_reason_again}

    async def ticket_button(self, staff: StaffSession, button: StaffTicketButton, act: _Action) -> None:
        """Handle a button. A `Rejection` is shown to the agent who pressed.

        Each action answers the press once. It gets the ticket as it was just read, and saves over that version.
        """
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(button.ticket)
        if ticket is None:
            await staff.toast("support.staff.gone", alert=True)
            return
        with bind_fields(**ticket.log_fields):
            async with alert_on_rejection(staff):
                await act(staff, ticket, button.argument)

    async def _refresh(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._order_refresh.refresh(staff, ticket)

    async def _claim(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._tickets.claim(ticket.reference, staff.user.id)
        await staff.toast("support.staff.claimed")

    async def _take_over(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Claim an unclaimed ticket at once. To take over a colleague's, ask for a note to them."""
        if ticket.claimed_by in {None, staff.user.id} or not ticket.is_open:
            await self._claim(staff, ticket, argument)
            return
        await staff.session.acknowledge()
        reader = await staff.reader_who_knows(ticket.claimed_by)
        screen = staff_screens.ask_for_note(reader, ticket, ticket.claimed_by or 0)
        await ask_agent(self._messages, staff, ticket, TAKE_OVER, screen)

    async def _take_over_with_note(self, reply: TicketReply, _: str, message: Message) -> None:
        """Take over the ticket with a note. A notification reports it to all agents, so there is no answer."""
        staff, ticket = reply.staff, reply.ticket
        try:
            await self._tickets.take_over(ticket.reference, staff.user.id, read_reply(message))
        except Rejection as why:
            await self._messages.say(staff, ticket, staff_screens.explain_not_passed_on(staff.t, ticket, why))

    async def _close(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        """Ask for the reason to close the ticket."""
        if not ticket.is_open:
            raise TicketClosed
        await staff.session.acknowledge()
        undecided = await self._tickets.count_undecided(ticket.reference)
        await ask_agent(
            self._messages, staff, ticket, CLOSE, staff_screens.ask_close_reason(staff.t, ticket, undecided)
        )

    async def _ask_reason_again(self, reply: TicketReply, _: str, __: Message) -> None:
        """Ask for the reason again. It has to be tapped, and a typed answer isn't sent to the user."""
        staff, ticket = reply.staff, reply.ticket
        if ticket.is_open:
            await ask_agent(self._messages, staff, ticket, CLOSE, staff_screens.ask_close_reason(staff.t, ticket))
        else:
            screen = staff_screens.explain_not_passed_on(staff.t, ticket, TicketClosed())
            await self._messages.say(staff, ticket, screen)

    async def _close_as(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        reason = REASONS.get(argument)
        if reason is None:
            raise Rejection("support.staff.gone")
        closed = await self._tickets.close(ticket.reference, staff.user.id, reason)
        await staff.session.acknowledge()
        await staff.edit_message(staff_screens.confirm_closed(staff.t, closed, reason))

    async def _reopen(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        await self._tickets.reopen(ticket.reference, staff.user.id)
        await staff.toast("support.staff.reopened")

    async def _send_again(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        if not await self._tickets.retry_reply(ticket.reference, staff.user.id, _read_number(argument)):
            raise Rejection("support.staff.gone")
        await staff.toast("support.staff.tried_again")

    async def _send_undecided(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Send what the agent wrote. The question is removed, since a reaction to each message reports its delivery."""
        sent = await self._tickets.send_undecided(ticket.reference, staff.user.id, _read_number(argument))
        await staff.toast("support.staff.sending" if sent else "support.staff.decided_already")
        if staff.message_id is not None:
            deleted = await staff.messenger.delete(staff.chat_id, staff.message_id, priority="talk")
            if isinstance(deleted, Gone | Invalid):
                await staff.edit_message(Screen(staff.t("support.staff.sending")))
            await self._messages.forget(staff)

    async def _keep_undecided(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Keep what the agent wrote as a note. The question becomes its confirmation, and a reply to that is a note."""
        kept = await self._tickets.keep_undecided(ticket.reference, staff.user.id, _read_number(argument))
        if not kept:
            await staff.toast("support.staff.decided_already")
            return
        await staff.session.acknowledge()
        await self._messages.replace_question(staff, ticket, NOTE)
        await staff.edit_message(staff_screens.confirm_note(staff.t, ticket))

    async def _ask_outcome(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        """Ask how the ticket's order ended."""
        ticket.claim(staff.user.id, staff.now)
        await staff.session.acknowledge()
        await self._messages.say(staff, ticket, staff_screens.ask_outcome(staff.t, ticket))

    async def _record_outcome(self, staff: StaffSession, ticket: Ticket, argument: str) -> None:
        """Record how the ticket's order ended. The question becomes what is recorded, with the message to the user."""
        ticket.claim(staff.user.id, staff.now)
        outcome = OUTCOMES.get(argument)
        if outcome is None:
            raise Rejection("support.staff.gone")
        await self._alarms.end_order(ticket.order_reference, staff.user.id, outcome, self._tell_others(staff))
        await self._show_outcome(staff, ticket, outcome)

    async def _undo_outcome(self, staff: StaffSession, ticket: Ticket, _: str) -> None:
        """Take back how the ticket's order ended. The alarm about it is open again."""
        reference, tell = ticket.order_reference, self._tell_others(staff)
        if await self._alarms.reopen(AlarmKind.ORDER_FAILED, reference, staff.user.id, tell) is None:
            raise Rejection("support.staff.gone")
        await self._show_outcome(staff, ticket, None)

    async def _show_outcome(self, staff: StaffSession, ticket: Ticket, outcome: Outcome | None) -> None:
        await staff.session.acknowledge()
        reader = await staff.reader_who_knows(staff.user.id)
        await staff.edit_message(staff_screens.show_outcome(reader, ticket, outcome, staff.user.id))

    def _tell_others(self, staff: StaffSession) -> OnHandled:
        return partial(tell_ticket, self._staff_chat, besides=staff.chat_id)


def _read_number(argument: str) -> int:
    return int(argument) if argument.isascii() and argument.isdecimal() else 0


class StaffChatHandlers:
    """Handle the new id of the staff's group, and presses on buttons of support without a route."""

    def __init__(self, database: Database, *, sessions: StaffSessions, routes: Iterable[Routes[StaffSession]]) -> None:
        self._database = database
        self._sessions = sessions
        self._prefixes = frozenset(route.name.partition(":")[0] for each in routes for route in each.routes)

    async def take_move(self, _: Session, update: Update) -> bool:
        """Save the new id of the staff's group, and ignore other groups. Return False for any other update."""
        message = update.message
        if message is None or (message.migrate_to_chat_id is None and message.migrate_from_chat_id is None):
            return False
        old, new = message.chat_id, message.migrate_to_chat_id
        if new is not None and await self._sessions.is_group(old):
            async with self._database.transaction() as tx:
                await OutboxRepository(tx).move_chat(old, new)
                await move_group(tx, old, new)
        return True

    async def take_unreadable_press(self, session: Session, update: Update) -> bool:
        """Answer a press on a button of support that can't be read. Return False for any other update."""
        query = update.callback_query
        if query is None or (query.data or "").partition(":")[0] not in self._prefixes:
            return False
        staff = await self._sessions.open(session, update)
        if staff is None:
            await self._sessions.refuse(session)
        else:
            await staff.toast("support.staff.gone", alert=True)
        return True


class AgentGuide:
    """Tell support agents what they can do, and let them choose the language of their group."""

    def __init__(self, infra: Infra, *, sessions: StaffSessions, staff_chat: StaffChat) -> None:
        self._database = infra.database
        self._translations = infra.translations
        self._sessions = sessions
        self._staff_chat = staff_chat

    def routes(self) -> Routes[StaffSession]:
        """Return the commands in the group, and their button. In private, `/help` and `/language` are everyone's."""
        routes = Routes[StaffSession](Audience.SUPPORT, in_private=False, in_groups=True)
        routes.add_command("help", self.show_help, menu={Menu.GROUP: 20})
        routes.add_command("language", self.ask_language, menu={Menu.GROUP: 30})
        routes.add_button(GroupLanguageButton, self.language_button)
        return routes

    async def read_start(self, session: Session) -> Screen | None:
        """Return what an agent sees first: the number of tickets, and where they arrive. None for other users."""
        if not self._sessions.is_agent(session.user.id):
            return None
        async with self._database.reading() as tx:
            counts = {which: await TicketRepository(tx).count(which, session.user.id) for which in TicketFilter}
            group = await self._staff_chat.group(tx)
        return staff_screens.show_start(session.t, counts, has_group=group is not None)

    def make_help(self, session: Session) -> Screen | None:
        """Return what an agent can do. None for other users."""
        return staff_screens.show_help(session.t) if self._sessions.is_agent(session.user.id) else None

    async def show_help(self, staff: StaffSession, _: str) -> None:
        """Show in the group what agents can do."""
        await staff.say(staff_screens.show_help(staff.t))

    async def ask_language(self, staff: StaffSession, _: str) -> None:
        """Ask for the language of the group."""
        await staff.say(staff_screens.ask_language(staff.t))

    async def language_button(self, staff: StaffSession, button: GroupLanguageButton) -> None:
        """Save the language of the group, and confirm it in that language."""
        async with self._database.transaction() as tx:
            await GroupRepository(tx).save_locale(staff.chat_id, button.locale)
        await staff.session.acknowledge()
        await staff.edit_message(staff_screens.confirm_language(self._translations.get(button.locale)))
