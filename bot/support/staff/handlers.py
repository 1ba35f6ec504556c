"""Which handlers support has, and what stands before everybody else's in groups."""

import re
from collections.abc import Mapping

from telegram import Chat, Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler

from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.session import SESSION
from bot.support.lookup import handlers as lookups
from bot.support.lookup import user_handlers as lookup_people
from bot.support.reveal import handlers as revealing
from bot.support.saved_replies import handlers as saved_answers
from bot.support.saved_replies import send_handlers as answering
from bot.support.staff import assignment as holding
from bot.support.staff import moved_group as moving
from bot.support.staff import notes as noting
from bot.support.staff import questions as asking
from bot.support.staff import refresh as reading_afresh
from bot.support.staff import replies
from bot.support.staff.buttons import StaffTicketAction, StaffTicketButton
from bot.support.staff.session import (
    StaffSession,
    TicketAct,
    open_staff_session,
    refuse,
    rejection_alerts,
    staff_routes,
)
from bot.support.tickets.repository import TicketRepository

routes = staff_routes()

ACTIONS: Mapping[StaffTicketAction, TicketAct] = {
    StaffTicketAction.SHOW: lookups.show_ticket,
    **holding.ACTIONS,
    StaffTicketAction.REFRESH: reading_afresh.fresh,
}
"""What a button about a ticket does."""

QUESTIONS: dict[str, asking.TakeReply] = {**holding.QUESTIONS, **noting.QUESTIONS}
"""What takes the reply to which question."""

ROUTES: tuple[Routes[StaffSession], ...] = (
    routes,
    noting.routes,
    revealing.routes,
    saved_answers.routes,
    answering.routes,
    lookups.routes,
    lookup_people.routes,
)
"""The commands and buttons of support agents."""


@routes.button(StaffTicketButton)
async def ticket_button(staff: StaffSession, button: StaffTicketButton) -> None:
    """Do what a support agent's button says with its ticket."""
    async with staff.desk.store.reading() as tx:
        ticket = await TicketRepository(tx).get(button.ticket)
    if ticket is None:
        await staff.toast("staff.gone", alert=True)
        return
    async with rejection_alerts(staff):
        await ACTIONS[button.action](staff, ticket, button.argument)


def handlers() -> list[Handler]:
    """Return what comes after the routes: replies, forwarded messages, and buttons that no route has."""
    prefixes = sorted({kind.prefix.partition(":")[0] for each in ROUTES for kind in each.kinds()})
    return [
        *replies.handlers(QUESTIONS),
        *moving.handlers(),
        *lookup_people.handlers(),
        CallbackQueryHandler(_unreadable, pattern=re.compile(f"^(?:{'|'.join(prefixes)}):")),
        CallbackQueryHandler(_in_a_group),
    ]


async def _unreadable(update: Update, _: Context) -> None:
    """Answer a press of a button that looks like support's, but that support has none like."""
    staff = await open_staff_session(update)
    if staff is None:
        await refuse(update)
    else:
        await staff.toast("staff.gone", alert=True)
    raise ApplicationHandlerStop


async def _in_a_group(update: Update, _: Context) -> None:
    """A person's buttons work in their private chat alone: a press from anywhere else was made up."""
    chat = update.effective_chat
    if chat is not None and chat.type != Chat.PRIVATE:
        session = SESSION.get()
        await session.acknowledge(session.t.plain("stale.not_yours"), alert=True)
        raise ApplicationHandlerStop
