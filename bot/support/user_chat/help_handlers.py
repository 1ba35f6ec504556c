"""The pages of `/help`: opened in its place, and what Lightning is beside the first review."""

from telegram import Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler

from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.support.user_chat import handlers as tickets
from bot.support.user_chat.screens import help as help_topics


def handlers() -> list[Handler]:
    """Return the buttons; the command is with everything that leads to support."""
    return [CallbackQueryHandler(_pressed, pattern=data.HELP_PATTERN)]


async def _pressed(update: Update, _: Context) -> None:
    session, query = SESSION.get(), update.callback_query
    press = data.HELP_PATTERN.match((query.data or "") if query else "")
    await session.acknowledge()
    if press is not None and press[1] == "aside":
        # The review stays as it is, with its buttons.
        await session.post(help_topics.lightning(session.t))
    elif press is not None:
        await session.show(session.with_resume(await _page(session, press[1])))
    raise ApplicationHandlerStop


async def _page(session: Session, which: str) -> Screen:
    if which == "show":
        return await tickets.help_page(session)
    rules = session.desk.orders.rules
    facts = help_topics.Facts(
        minimum=rules.min_order_idr,
        a_day=rules.limits.idr_per_day,
        times=await session.desk.payout_times.get(),
        help_desk=session.desk.help,
    )
    return help_topics.screen(session.t, which, facts)
