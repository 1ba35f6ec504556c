"""Handlers of `/destinations` and its buttons, for operators."""

from bot.infra.drawing.off_loop import render_chart_off_loop
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import DestinationsButton
from bot.orders.destinations import screens
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.model import DestinationsHealth
from bot.users.session import Session


class DestinationHandlers:
    """Show operators how each destination is doing."""

    def __init__(self, destinations: DestinationHealthService) -> None:
        self._destinations = destinations

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("destinations", self.show_destinations, menu={Menu.OPERATORS: 45})
        routes.add_button(DestinationsButton, self.page_button)
        return routes

    async def show_destinations(self, session: Session, _: str) -> None:
        """Show the picture of the most used destinations, and the list below it."""
        health = await self._destinations.get()
        chart = None if health is None else screens.build_chart(session.t, health, session.zone)
        if health is not None and chart is not None:
            picture = await render_chart_off_loop(chart)
            await session.send_message(screens.show_chart(session.t, health, session.zone, picture))
        await session.send_message(self._build_list(session, health, 0))

    async def page_button(self, session: Session, button: DestinationsButton) -> None:
        """Show a page in place of the page before, with the newest figures."""
        await session.acknowledge()
        await session.edit_message(self._build_list(session, await self._destinations.get(), int(button.page)))

    def _build_list(self, session: Session, health: DestinationsHealth | None, page: int) -> Screen:
        if health is None:
            return Screen(session.t("orders.destinations.unavailable"))
        return screens.show_destinations(session.t, health, page, session.zone)
