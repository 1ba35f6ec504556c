"""Which handlers support has, and what stands before everybody else's in groups."""

from collections.abc import Callable
from functools import partial

from telegram import Chat, Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler

from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import SESSION
from bot.support.lookup import handlers as lookups
from bot.support.reveal import handlers as revealing
from bot.support.saved_replies import handlers as saved_answers
from bot.support.staff import assignment as holding
from bot.support.staff import moved_group as moving
from bot.support.staff import notes as noting
from bot.support.staff import questions as asking
from bot.support.staff import refresh as reading_afresh
from bot.support.staff import replies
from bot.support.staff import ticket_buttons as ticket_presses

ACTIONS: dict[str, ticket_presses.TicketAct] = {
    "show": lookups.show_ticket,
    **holding.ACTIONS,
    "fresh": reading_afresh.fresh,
}
"""What a button about a ticket does."""

QUESTIONS: dict[str, asking.TakeReply] = {**holding.QUESTIONS, **noting.QUESTIONS}
"""What takes the reply to which question."""

PARTS: tuple[Callable[[], list[Handler]], ...] = (
    partial(ticket_presses.handlers, ACTIONS),
    partial(replies.handlers, QUESTIONS),
    noting.handlers,
    revealing.handlers,
    saved_answers.handlers,
    moving.handlers,
    lookups.handlers,
)
"""Each part brings its own commands and buttons; all of them stand before those of persons."""


def handlers() -> list[list[Handler]]:
    """Support's, each part's for a group of their own, and then what sends away whoever presses others in a group."""
    return [*(part() for part in PARTS), [CallbackQueryHandler(_in_a_group)]]


async def _in_a_group(update: Update, _: Context) -> None:
    """A person's buttons work in their private chat alone: a press from anywhere else was made up."""
    chat = update.effective_chat
    if chat is not None and chat.type != Chat.PRIVATE:
        visit = SESSION.get()
        await visit.acknowledge(visit.t.plain("stale.not_yours"), alert=True)
        raise ApplicationHandlerStop
