"""`/next`: claim the ticket to work on, show it with what fits it, and reply, close it, or set it aside.

Each press reads the order again. What isn't as it was shown is shown again, and nothing is done. The message with the
ticket is the source of its reply, so a second press doesn't send it again, not even after a crash.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.i18n import translator_for
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.buttons import NextAction, NextButton
from bot.support.cases import order_of
from bot.support.model import CloseReason, IncomingMessage, Ticket, TicketEntry
from bot.support.repository import (
    BotMessageRepository,
    SavedReplyRepository,
    TicketEntryRepository,
    TicketRepository,
)
from bot.support.saved_replies import suggest
from bot.support.saved_reply_handlers import fill
from bot.support.screens import next_ticket as screens
from bot.support.screens.next_ticket import Work
from bot.support.session import StaffSession, StaffSessions, TicketMessages, TicketPages, alert_on_rejection
from bot.support.staff_handlers import OrderRefresh
from bot.support.staff_service import StaffTicketService

LONGEST_PAUSE: Final = timedelta(days=1)
"""How long a ticket waits for its order at most. An order that has ended doesn't move by itself."""

SENDING: Final = frozenset({NextAction.SEND, NextAction.SEND_AND_CLOSE})

_Act = Callable[[StaffSession, NextButton, Work], Awaitable[Screen | None]]
"""Does what a button says, and returns the screen after it. None: what the agent saw isn't as it is now."""


class NextTicketHandlers:
    """Let an agent work on one ticket after the other."""

    def __init__(
        self,
        infra: Infra,
        *,
        sessions: StaffSessions,
        messages: TicketMessages,
        tickets: StaffTicketService,
        ticket_pages: TicketPages,
        order_refresh: OrderRefresh,
    ) -> None:
        self._sessions = sessions
        self._database = infra.database
        self._translations = infra.translations
        self._messages = messages
        self._tickets = tickets
        self._ticket_pages = ticket_pages
        self._order_refresh = order_refresh

    def routes(self) -> Routes[StaffSession]:
        """Return the command and the buttons."""
        routes = self._sessions.routes()
        routes.add_command("next", self.show_next, menu={Menu.SUPPORT: 5})
        actions: Mapping[NextAction, _Act] = {
            NextAction.NEXT: self._show,
            NextAction.SHOW: self._show,
            NextAction.ASK_UNTIL_WHEN: self._ask_until_when,
            NextAction.SEND: self._send,
            NextAction.SEND_AND_CLOSE: self._send,
            NextAction.WAIT_FOR_ORDER: self._wait_for_order,
            NextAction.WAIT_UNTIL: self._wait_until,
        }
        routes.add_actions(NextButton, self.next_button, actions)
        return routes

    async def show_next(self, staff: StaffSession, _: str) -> None:
        """Claim the next ticket and show it, or say that none waits."""
        ticket = await self._tickets.claim_next(staff.user.id)
        if ticket is None:
            async with self._database.reading() as tx:
                paused = await TicketRepository(tx).count_paused()
            await staff.say(screens.show_none(staff.t, paused))
            return
        work = await self._read(staff, ticket)
        await self._messages.say(staff, work.ticket, await self._render(staff, work))

    async def next_button(self, staff: StaffSession, button: NextButton, act: _Act) -> None:
        """Handle a button. A `Rejection` is shown to the agent who pressed."""
        if button.action is NextAction.NEXT:
            await staff.session.acknowledge()
            await self.show_next(staff, "")
            return
        async with alert_on_rejection(staff):
            async with self._database.reading() as tx:
                ticket = await TicketRepository(tx).get(button.ticket)
                sent = await TicketEntryRepository(tx).of_source(staff.chat_id, staff.message_id or 0)
            if ticket is None:
                raise Rejection("support.staff.gone")
            is_again = sent is not None and button.action in SENDING
            if not is_again:
                ticket.claim(staff.user.id, staff.now)
            if is_again or ticket.order_reference:
                await staff.toast("support.saved_reply.sent_already" if is_again else "support.staff_ticket.reading")
            else:
                await staff.session.acknowledge()
            work = await self._read(staff, ticket, button.argument, sent)
            screen = await act(staff, button, work) or await self._render(staff, work, "support.next.changed")
            await staff.edit_message(screen)

    async def _show(self, staff: StaffSession, _: NextButton, work: Work) -> Screen:
        return await self._render(staff, work)

    async def _ask_until_when(self, staff: StaffSession, _: NextButton, work: Work) -> Screen:
        return await self._render(staff, work, times=True)

    async def _send(self, staff: StaffSession, button: NextButton, work: Work) -> Screen | None:
        if work.sent is not None:
            return await self._render(staff, work)
        if button.seen != work.hash(with_reply=True) or staff.message_id is None:
            return None
        incoming = IncomingMessage(chat_id=staff.chat_id, message_id=staff.message_id, text=work.filled)
        closing = CloseReason.SOLVED if button.action is NextAction.SEND_AND_CLOSE else None
        sent = await self._tickets.reply(button.ticket, staff.user.id, incoming, closing)
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(button.ticket) or work.ticket
        return await self._render(staff, replace(work, ticket=ticket, sent=sent))

    async def _wait_for_order(self, staff: StaffSession, button: NextButton, work: Work) -> Screen | None:
        return await self._pause(staff, button, work, staff.now + LONGEST_PAUSE)

    async def _wait_until(self, staff: StaffSession, button: NextButton, work: Work) -> Screen | None:
        until = datetime.fromtimestamp(int(button.argument), UTC) if button.argument.isdecimal() else staff.now
        if until <= staff.now:
            return await self._ask_until_when(staff, button, work)
        return await self._pause(staff, button, work, until)

    async def _pause(self, staff: StaffSession, button: NextButton, work: Work, until: datetime) -> Screen | None:
        if button.seen != work.hash(with_reply=False):
            return None
        paused = await self._tickets.pause(button.ticket, staff.user.id, until, work.status or "")
        return screens.show_paused(await staff.reader_who_knows(staff.user.id), paused)

    async def _render(self, staff: StaffSession, work: Work, notice: str = "", *, times: bool = False) -> Screen:
        reader = await staff.reader_who_knows(staff.user.id, work.ticket.claimed_by, *work.case.people)
        return screens.show_work(reader, work, notice=staff.t(notice) if notice else "", times=times)

    async def _read(self, staff: StaffSession, ticket: Ticket, name: str = "", sent: TicketEntry | None = None) -> Work:
        """Return the ticket with its order as the service reports it now, and the saved reply with this name.

        Without a name, or if that one doesn't fit, it is the one that fits best.
        """
        async with self._database.reading() as tx:
            order = await order_of(tx, ticket)
        report = await self._order_refresh.read(staff, order) if order is not None and order.service_id else None
        case = await self._ticket_pages.view(staff.user.id, ticket, staff.now)
        order, t = case.order, translator_for(self._translations, case.user)
        status = order.status(staff.now) if order is not None else None
        async with self._database.reading() as tx:
            saved = await SavedReplyRepository(tx).all()
            cards = await BotMessageRepository(tx).cards(ticket.reference)
            last = await TicketEntryRepository(tx).last_asked(ticket.reference)
            current = await TicketRepository(tx).get(ticket.reference) or ticket
        replies, filled = suggest(saved, t.locale, order, staff.now), {}
        for reply in replies:
            with suppress(Rejection):
                filled[reply.name] = fill(reply, ticket, order, t)
        chosen = name if name in filled else next(iter(filled), "")
        return Work(
            ticket=current,
            case=case,
            status=status,
            report=report,
            last=last,
            sent=sent,
            replies=[each for each in replies if each.name in filled],
            name=chosen,
            filled=filled.get(chosen, ""),
            locale=t.locale,
            undecided=await self._tickets.count_undecided(ticket.reference),
            link=next((card.link for card in cards if card.link), None),
        )
