"""A person's own tickets: `/help` with the way to them, and the buttons under their messages.

A button works for whose ticket it is alone, whoever presses it.
"""

from collections.abc import Awaitable, Callable, Mapping

from telegram import Message

from bot.core.errors import Rejection
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.support.ticket import Rating, Ticket
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat import typed as ticket_words
from bot.support.user_chat.buttons import (
    LeaveTicketQuestionButton,
    NewTicketButton,
    UserTicketAction,
    UserTicketButton,
)
from bot.support.user_chat.messages import written_in
from bot.support.user_chat.screens import page as ticket_page
from bot.support.user_chat.screens import question as ticket_question

OFFERED = 3
LISTED = 5
"""Open tickets under `/help`; nobody has as many matters at once."""

routes = Routes[Session]()


async def help_page(visit: Session) -> Screen:
    """What `/help` shows: also the person's open tickets."""
    async with visit.desk.store.reading() as tx:
        known = await TicketRepository(tx).of_person(visit.person.id, limit=LISTED)
        mine = [ticket for ticket in known if ticket.is_open]
        orders = [
            await OrderRepository(tx).get_if_readable(ticket.order_reference)
            for ticket in mine
            if ticket.order_reference
        ]
    about = {order.reference: order for order in orders if order is not None}
    return ticket_page.help_screen(visit.t, visit.desk.help, mine, about, visit.desk.provider)


async def ask_about(visit: Session, order: Order) -> None:
    """The button under an order that leads to a person."""
    await visit.acknowledge()
    if not visit.desk.help.has_staff:
        await visit.post(ticket_question.contact_only(visit.t, order, visit.desk.help.contact))
        return
    async with visit.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).open_of(visit.person.id, order.reference)
    await ticket_words.ask(visit, order, ticket)


async def offers_to_pass_on(visit: Session, message: Message) -> bool:
    """Whether somebody who has an open ticket was asked if what they wrote, in answer to nothing, is for support."""
    if not visit.desk.help.has_staff or written_in(message) is None:
        return False
    async with visit.desk.store.reading() as tx:
        known = await TicketRepository(tx).of_person(visit.person.id, limit=OFFERED)
    mine = [ticket for ticket in known if ticket.is_open]
    if mine:
        shown = ticket_question.offer(visit.t, mine)
        await visit.desk.messenger.send_text(
            visit.chat_id, shown.text, shown.keyboard, lane="talk", reply_to=message.message_id
        )
    return bool(mine)


@routes.button(NewTicketButton)
async def new_button(visit: Session, _: NewTicketButton) -> None:
    """Ask what to tell support."""
    await visit.acknowledge()
    if visit.desk.help.has_staff:
        async with visit.desk.store.reading() as tx:
            ticket = await TicketRepository(tx).open_of(visit.person.id)
        await ticket_words.ask(visit, None, ticket)
    else:
        await visit.say(visit.with_resume(await help_page(visit)))


@routes.button(LeaveTicketQuestionButton)
async def leave_button(visit: Session, _: LeaveTicketQuestionButton) -> None:
    """Say that the question has ended: the press itself has ended it (`infra/telegram/ui/questions.py`)."""
    await visit.acknowledge()
    await visit.show(visit.with_resume(ticket_question.left(visit.t)))


@routes.button(UserTicketButton, belongs_to="ticket")
async def ticket_button(visit: Session, button: UserTicketButton) -> None:
    """Do what a button says with the user's own ticket."""
    async with visit.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).get(button.ticket)
    act = ACTIONS.get(button.action)
    if ticket is None or ticket.person_id != visit.person.id:
        await visit.acknowledge(visit.t.plain("ticket.gone"), alert=True)
    elif act is None:
        await visit.acknowledge(visit.t.plain("stale.button"))
        await _show(visit, ticket)
    else:
        try:
            await act(visit, ticket, button.argument)
        except Rejection as rejection:
            await visit.acknowledge(visit.t.plain(rejection.key, **rejection.arguments), alert=True)


async def _show(visit: Session, ticket: Ticket, _: str = "") -> None:
    """The page: in the place of the list under `/help`, never in that of news."""
    await visit.acknowledge()
    if not visit.desk.prompts.is_current(visit.chat_id, visit.message_id):
        visit.message_id = None
    await visit.show(visit.with_resume(await _page(visit, ticket)))


async def _say(visit: Session, ticket: Ticket, _: str) -> None:
    if not ticket.is_open and not _may_be_reopened(visit, ticket):
        raise Rejection("ticket.closed_too_long_ago")
    await visit.acknowledge()
    await ticket_words.ask(visit, await _order_of(visit, ticket), ticket)


async def _reopen(visit: Session, ticket: Ticket, _: str) -> None:
    """Open it again at once, and then ask what is still wrong."""
    ticket = await visit.desk.ticket_ending.reopen(ticket)
    await visit.acknowledge(visit.t.plain("ticket.reopened"))
    await visit.update(await _page(visit, ticket))
    await ticket_words.ask(visit, await _order_of(visit, ticket), ticket)


async def _rate(visit: Session, ticket: Ticket, argument: str) -> None:
    if argument not in set(Rating):
        raise Rejection("stale.button")
    ticket = await visit.desk.ticket_ending.rate(ticket, Rating(argument))
    await visit.acknowledge(visit.t.plain("ticket.thanks"))
    await visit.update(await _page(visit, ticket))


async def _pass_on(visit: Session, ticket: Ticket, _: str) -> None:
    """The message that ours has answered goes to support, if it is this person's own."""
    theirs = visit.pressed.reply_to_message if visit.pressed is not None else None
    is_own = theirs is not None and theirs.from_user is not None and theirs.from_user.id == visit.person.id
    written = written_in(theirs) if theirs is not None and is_own else None
    if written is None:
        raise Rejection("ticket.nothing_to_pass_on")
    taken = await visit.desk.ticket_opening.say(visit.person, written, ticket.reference)
    await visit.acknowledge()
    await visit.update(visit.with_resume(ticket_question.added(visit.t, taken.ticket)))
    if visit.message_id is not None:
        await ticket_words.keep_post(visit, taken.ticket, visit.message_id)


ACTIONS: Mapping[str, Callable[[Session, Ticket, str], Awaitable[None]]] = {
    UserTicketAction.SHOW: _show,
    UserTicketAction.WRITE: _say,
    UserTicketAction.REOPEN: _reopen,
    UserTicketAction.RATE: _rate,
    UserTicketAction.FORWARD: _pass_on,
}
"""What a button does, by its action."""


async def _page(visit: Session, ticket: Ticket) -> Screen:
    now, order = visit.desk.clock.now(), await _order_of(visit, ticket)
    may_reopen = _may_be_reopened(visit, ticket)
    return ticket_page.screen(visit.t, ticket, order, now, visit.zone, may_reopen=may_reopen)


def _may_be_reopened(visit: Session, ticket: Ticket) -> bool:
    return ticket.may_be_reopened(visit.desk.clock.now(), visit.desk.ticket_ending.reopen_within)


async def _order_of(visit: Session, ticket: Ticket) -> Order | None:
    if not ticket.order_reference:
        return None
    async with visit.desk.store.reading() as tx:
        return await OrderRepository(tx).get(ticket.order_reference)
