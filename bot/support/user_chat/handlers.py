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


async def help_page(session: Session) -> Screen:
    """What `/help` shows: also the person's open tickets."""
    async with session.desk.store.reading() as tx:
        known = await TicketRepository(tx).of_person(session.person.id, limit=LISTED)
        mine = [ticket for ticket in known if ticket.is_open]
        orders = [
            await OrderRepository(tx).get_if_readable(ticket.order_reference)
            for ticket in mine
            if ticket.order_reference
        ]
    about = {order.reference: order for order in orders if order is not None}
    return ticket_page.help_screen(session.t, session.desk.help, mine, about, session.desk.provider)


async def ask_about(session: Session, order: Order) -> None:
    """The button under an order that leads to a person."""
    await session.acknowledge()
    if not session.desk.help.has_staff:
        await session.post(ticket_question.contact_only(session.t, order, session.desk.help.contact))
        return
    async with session.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).open_of(session.person.id, order.reference)
    await ticket_words.ask(session, order, ticket)


async def offers_to_pass_on(session: Session, message: Message) -> bool:
    """Whether somebody who has an open ticket was asked if what they wrote, in answer to nothing, is for support."""
    if not session.desk.help.has_staff or written_in(message) is None:
        return False
    async with session.desk.store.reading() as tx:
        known = await TicketRepository(tx).of_person(session.person.id, limit=OFFERED)
    mine = [ticket for ticket in known if ticket.is_open]
    if mine:
        shown = ticket_question.offer(session.t, mine)
        await session.desk.messenger.send_text(
            session.chat_id, shown.text, shown.keyboard, lane="talk", reply_to=message.message_id
        )
    return bool(mine)


@routes.command("help")
async def show_help(session: Session, _: str) -> None:
    """Show how it works, the way to support, and the user's open tickets."""
    await session.say(session.with_resume(await help_page(session)))


@routes.button(NewTicketButton)
async def new_button(session: Session, _: NewTicketButton) -> None:
    """Ask what to tell support."""
    await session.acknowledge()
    if session.desk.help.has_staff:
        async with session.desk.store.reading() as tx:
            ticket = await TicketRepository(tx).open_of(session.person.id)
        await ticket_words.ask(session, None, ticket)
    else:
        await session.say(session.with_resume(await help_page(session)))


@routes.button(LeaveTicketQuestionButton)
async def leave_button(session: Session, _: LeaveTicketQuestionButton) -> None:
    """Say that the question has ended: the press itself has ended it (`infra/telegram/ui/questions.py`)."""
    await session.acknowledge()
    await session.show(session.with_resume(ticket_question.left(session.t)))


@routes.button(UserTicketButton, belongs_to="ticket")
async def ticket_button(session: Session, button: UserTicketButton) -> None:
    """Do what a button says with the user's own ticket."""
    async with session.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).get(button.ticket)
    act = ACTIONS.get(button.action)
    if ticket is None or ticket.person_id != session.person.id:
        await session.acknowledge(session.t.plain("ticket.gone"), alert=True)
    elif act is None:
        await session.acknowledge(session.t.plain("stale.button"))
        await _show(session, ticket)
    else:
        try:
            await act(session, ticket, button.argument)
        except Rejection as rejection:
            await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)


async def _show(session: Session, ticket: Ticket, _: str = "") -> None:
    """The page: in the place of the list under `/help`, never in that of news."""
    await session.acknowledge()
    if not session.desk.prompts.is_current(session.chat_id, session.message_id):
        session.message_id = None
    await session.show(session.with_resume(await _page(session, ticket)))


async def _say(session: Session, ticket: Ticket, _: str) -> None:
    if not ticket.is_open and not _may_be_reopened(session, ticket):
        raise Rejection("ticket.closed_too_long_ago")
    await session.acknowledge()
    await ticket_words.ask(session, await _order_of(session, ticket), ticket)


async def _reopen(session: Session, ticket: Ticket, _: str) -> None:
    """Open it again at once, and then ask what is still wrong."""
    ticket = await session.desk.ticket_ending.reopen(ticket)
    await session.acknowledge(session.t.plain("ticket.reopened"))
    await session.update(await _page(session, ticket))
    await ticket_words.ask(session, await _order_of(session, ticket), ticket)


async def _rate(session: Session, ticket: Ticket, argument: str) -> None:
    if argument not in set(Rating):
        raise Rejection("stale.button")
    ticket = await session.desk.ticket_ending.rate(ticket, Rating(argument))
    await session.acknowledge(session.t.plain("ticket.thanks"))
    await session.update(await _page(session, ticket))


async def _pass_on(session: Session, ticket: Ticket, _: str) -> None:
    """The message that ours has answered goes to support, if it is this person's own."""
    theirs = session.pressed.reply_to_message if session.pressed is not None else None
    is_own = theirs is not None and theirs.from_user is not None and theirs.from_user.id == session.person.id
    written = written_in(theirs) if theirs is not None and is_own else None
    if written is None:
        raise Rejection("ticket.nothing_to_pass_on")
    taken = await session.desk.ticket_opening.say(session.person, written, ticket.reference)
    await session.acknowledge()
    await session.update(session.with_resume(ticket_question.added(session.t, taken.ticket)))
    if session.message_id is not None:
        await ticket_words.keep_post(session, taken.ticket, session.message_id)


ACTIONS: Mapping[str, Callable[[Session, Ticket, str], Awaitable[None]]] = {
    UserTicketAction.SHOW: _show,
    UserTicketAction.WRITE: _say,
    UserTicketAction.REOPEN: _reopen,
    UserTicketAction.RATE: _rate,
    UserTicketAction.FORWARD: _pass_on,
}
"""What a button does, by its action."""


async def _page(session: Session, ticket: Ticket) -> Screen:
    now, order = session.desk.clock.now(), await _order_of(session, ticket)
    may_reopen = _may_be_reopened(session, ticket)
    return ticket_page.screen(session.t, ticket, order, now, session.zone, may_reopen=may_reopen)


def _may_be_reopened(session: Session, ticket: Ticket) -> bool:
    return ticket.may_be_reopened(session.desk.clock.now(), session.desk.ticket_ending.reopen_within)


async def _order_of(session: Session, ticket: Ticket) -> Order | None:
    if not ticket.order_reference:
        return None
    async with session.desk.store.reading() as tx:
        return await OrderRepository(tx).get(ticket.order_reference)
