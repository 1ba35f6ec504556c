"""The rate: `/rate`, and the buttons of the times that its chart looks back over."""

from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.rates.buttons import RateButton
from bot.rates.history import Period
from bot.rates.screens import rate
from bot.settlement.model import Quote, SettlementFailure

routes = Routes[Session]()


@routes.command("rate")
async def show_rate(session: Session, _: str) -> None:
    """Show the rate with the chart of the last day."""
    quote = await _quote(session)
    if quote is not None:
        screen = await _screen(session, Period.DAY, quote)
    else:
        screen = rate.none(session.t, subscribed=await _subscribed(session))
    await session.say(session.with_resume(screen))


@routes.button(RateButton)
async def rate_button(session: Session, button: RateButton) -> None:
    """Show another period in the same message. Without a current rate the picture stays as it is."""
    quote = await _quote(session)
    if quote is None or quote.is_stale(session.desk.clock.now()):
        await session.acknowledge(session.t.plain("rate.none"), alert=True)
    else:
        await session.acknowledge()
        await session.show(session.with_resume(await _screen(session, button.period, quote)))


async def _quote(session: Session) -> Quote | None:
    """The shared quote, if it can be had."""
    try:
        return await session.desk.market.quote()
    except SettlementFailure:
        return None


async def _screen(session: Session, period: Period, quote: Quote) -> Screen:
    subscribed = await _subscribed(session)
    if quote.is_stale(session.desk.clock.now()):
        return rate.stale(session.t, quote, session.zone, subscribed=subscribed)
    chart = await session.desk.charts.of(session.t, period, quote, session.zone)
    return rate.screen(session.t, quote, session.zone, chart, subscribed=subscribed)


async def _subscribed(session: Session) -> bool:
    """Return whether there are rate updates to stop."""
    return not (await session.desk.subscribing.wishes(session.person.id)).is_nothing
