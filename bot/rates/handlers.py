"""The rate: `/rate`, and the buttons of the times that its chart looks back over."""

from telegram import Update
from telegram.ext import (
    ApplicationHandlerStop,
    CallbackQueryHandler,
    CommandHandler,
)

from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.rates.history import Period
from bot.rates.screens import rate
from bot.settlement.model import Quote, SettlementFailure


def handlers() -> list[Handler]:
    """The command and the buttons."""
    return [
        CommandHandler("rate", _command, filters=PRIVATE),
        CallbackQueryHandler(_pressed, pattern=data.RATE_PATTERN),
    ]


async def _command(_: Update, __: Context) -> None:
    visit = SESSION.get()
    quote = await _quote(visit)
    if quote is not None:
        screen = await _screen(visit, Period.DAY, quote)
    else:
        screen = rate.none(visit.t, subscribed=await _subscribed(visit))
    await visit.say(visit.with_resume(screen))
    raise ApplicationHandlerStop


async def _pressed(update: Update, _: Context) -> None:
    """Another period in the same message; where there is no rate now, the picture stays as it is."""
    visit = SESSION.get()
    query = update.callback_query
    period = data.read_rate_press((query.data or "") if query else "")
    quote = await _quote(visit)
    if period is None:
        await visit.explain("stale.button")
    elif quote is None or quote.is_stale(visit.desk.clock.now()):
        await visit.acknowledge(visit.t.plain("rate.none"), alert=True)
    else:
        await visit.acknowledge()
        await visit.show(visit.with_resume(await _screen(visit, period, quote)))
    raise ApplicationHandlerStop


async def _quote(visit: Session) -> Quote | None:
    """The shared quote, if it can be had."""
    try:
        return await visit.desk.market.quote()
    except SettlementFailure:
        return None


async def _screen(visit: Session, period: Period, quote: Quote) -> Screen:
    subscribed = await _subscribed(visit)
    if quote.is_stale(visit.desk.clock.now()):
        return rate.stale(visit.t, quote, visit.zone, subscribed=subscribed)
    chart = await visit.desk.charts.of(visit.t, period, quote, visit.zone)
    return rate.screen(visit.t, quote, visit.zone, chart, subscribed=subscribed)


async def _subscribed(visit: Session) -> bool:
    """Return whether there are rate updates to stop."""
    return not (await visit.desk.subscribing.wishes(visit.person.id)).is_nothing
