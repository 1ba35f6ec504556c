"""Handle `/rate`, and the buttons for the period of its chart."""

from bot.infra.telegram.ui.router import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.rates.buttons import RateButton
from bot.rates.charts import Charts
from bot.rates.history import ChartPeriod
from bot.rates.screens import rate
from bot.rates.subscription_service import SubscriptionService
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import Quote, SettlementFailure
from bot.users.session import Session


class RateHandlers:
    """Show the rate and its chart."""

    def __init__(self, *, catalogue: ServiceCatalogue, charts: Charts, subscriptions: SubscriptionService) -> None:
        self._charts = charts
        self._catalogue = catalogue
        self._subscriptions = subscriptions

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("rate", self.show_rate, menu={Menu.EVERYONE: 30, Menu.OPERATORS: 70})
        routes.add_button(RateButton, self.rate_button)
        return routes

    async def show_rate(self, session: Session, _: str) -> None:
        """Show the rate with the chart of the last day."""
        quote = await self._quote()
        if quote is not None:
            screen = await self._screen(session, ChartPeriod.DAY, quote)
        else:
            screen = rate.explain_no_rate(session.t, subscribed=await self._subscribed(session))
        await session.show_below(session.with_resume(screen))

    async def rate_button(self, session: Session, button: RateButton) -> None:
        """Show another period in the same message. Without a current rate the picture isn't changed."""
        quote = await self._quote()
        if quote is None or quote.is_stale(session.now):
            await session.acknowledge(session.t.plain("rates.none"), alert=True)
        else:
            await session.acknowledge()
            await session.show(session.with_resume(await self._screen(session, button.period, quote)))

    async def _quote(self) -> Quote | None:
        """Return the cached quote, or None."""
        try:
            return await self._catalogue.quote()
        except SettlementFailure:
            return None

    async def _screen(self, session: Session, period: ChartPeriod, quote: Quote) -> Screen:
        subscribed = await self._subscribed(session)
        if quote.is_stale(session.now):
            return rate.explain_stale_rate(session.t, quote, session.zone, subscribed=subscribed)
        chart = await self._charts.of(session.t, period, quote, session.zone)
        return rate.show_rate(session.t, quote, session.zone, chart, subscribed=subscribed)

    async def _subscribed(self, session: Session) -> bool:
        """Return whether the user gets any rate updates."""
        return not (await self._subscriptions.get_updates(session.user.id)).is_empty
