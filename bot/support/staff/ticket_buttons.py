"""Support's buttons about a ticket: found, and handed to whatever does what the button says."""

from collections.abc import Awaitable, Callable, Mapping

from telegram import Update

from bot.core.errors import Rejection
from bot.infra.telegram.ui.handling import Context, Handler
from bot.support.staff import callback_data as data
from bot.support.staff.session import StaffSession, press
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository

TicketAct = Callable[[StaffSession, Ticket, str], Awaitable[None]]
"""Answers the press (once), and acts. The ticket is as it was read a moment ago: save over its version. A `Rejection`
that it raises before answering is shown to whoever pressed."""


def handlers(actions: Mapping[str, TicketAct]) -> list[Handler]:
    """All buttons whose data `data.for_staff` made; `actions` says what each does."""

    async def pressed(staff: StaffSession, update: Update, _: Context) -> None:
        query = update.callback_query
        wish = data.read_staff_press((query.data or "") if query else "")
        async with staff.desk.store.reading() as tx:
            ticket = await TicketRepository(tx).get(wish.name) if wish else None
        act = actions.get(wish.action) if wish else None
        if wish is None or ticket is None or act is None:
            await staff.toast("staff.gone", alert=True)
            return
        try:
            await act(staff, ticket, wish.argument)
        except Rejection as rejection:
            await staff.toast(rejection.key, alert=True, **rejection.arguments)

    return [press(data.STAFF_TICKET_PATTERN, pressed)]
