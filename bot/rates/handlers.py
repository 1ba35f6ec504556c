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
async def show_rate(visit: Session, _: str) -> None:
    """Show the rate with the chart of the last day."""
    quote = await _quote(visit)
    if quote is not None:
        screen = await _screen(visit, Period.DAY, quote)
    else:
        screen = rate.none(visit.t, subscribed=await _subscribed(visit))
    await visit.say(visit.with_resume(screen))


@routes.button(RateButton)
async def rate_button(visit: Session, button: RateButton) -> None:
    """Show another period in the same message. Without a current rate the picture stays as it is."""
    quote = await _quote(visit)
    if quote is None or quote.is_stale(visit.desk.clock.now()):
        await visit.acknowledge(visit.t.plain("rate.none"), alert=True)
    else:
        await visit.acknowledge()
        await visit.show(visit.with_resume(await _screen(visit, button.period, quote)))


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
