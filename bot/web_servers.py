"""The servers of the process: the public one (`HTTP_PORT`) and the one for metrics (`METRICS_PORT`), each if it is on.

Both run from the start, so that a standby is seen, too. Until the process becomes the leader, the public one has no
pages but those of health.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp

from bot.app import App, create_provider
from bot.infra.db.vault import Vault
from bot.infra.http import ports, server
from bot.infra.http.health import Health, create_health_app, create_metrics_app
from bot.infra.http.webhook import WebhookHandler
from bot.infra.metrics import LoopLag
from bot.infra.telegram.inbound.receiver import UpdateIntake
from bot.infra.watchdog import ProcessState
from bot.orders.pay_page.app import create_app
from bot.orders.pay_page.payer import PayersOfPages
from bot.orders.pay_page.rendering import Files, Site
from bot.payment_requests.paying.pages import RequestPages

STANDBY_RETRY_SECONDS = 2.0
"""How often a standby tries to open its ports. On one machine the leader has them until it ends."""


@dataclass(frozen=True, slots=True)
class _Port:
    """A port of the settings, and what is served there."""

    name: str
    settings: str
    host: str
    number: int
    app: ASGIApp


class WebServers:
    """Opens and closes the servers.

    Args:
        app: the parts of the bot.
        state: what the pages of health show.
    """

    def __init__(self, app: App, state: ProcessState) -> None:
        self._app = app
        self.lag: Final = LoopLag()
        """Run it while the servers are open. Without servers nobody sees what it measures."""

        self._health = Health(app.database, state, self.lag)
        self.public: Final = server.ReplaceableApp(create_health_app(self._health))
        metrics = create_metrics_app(app.operations.gauges.refresh)
        settings = app.settings
        known = (
            _Port("web", "HTTP_HOST, HTTP_PORT", settings.http_host, settings.http_port, self.public),
            _Port("metrics", "METRICS_HOST, METRICS_PORT", settings.metrics_host, settings.metrics_port, metrics),
        )
        self._closed = [port for port in known if port.number]
        self._serving = AsyncExitStack()
        self.tasks: list[asyncio.Task[None]] = []
        """The task of each open server. None of them may end while the bot runs."""

    async def open(self, *, retry_seconds: float = 0) -> None:
        """Open every port that is still closed, and serve. Try for `retry_seconds`.

        Raises:
            PortTaken: a port can't be opened. The message names its settings.
        """
        for port in tuple(self._closed):
            try:
                listener = await ports.bind(port.host, port.number, retry_seconds=retry_seconds)
            except ports.PortTaken as error:
                raise ports.PortTaken(f"its {port.name} port ({port.settings}): {error}") from None
            self._serving.callback(listener.close)
            self.tasks.append(await self._serving.enter_async_context(server.serve(port.app, listener, name=port.name)))
            self._closed.remove(port)

    async def open_as_standby(self) -> None:
        """Open the ports as soon as they can be opened. Return when all are open."""
        while self._closed:
            # Not at once: a process of this machine that becomes the leader now comes first.
            await asyncio.sleep(STANDBY_RETRY_SECONDS)
            with suppress(ports.PortTaken):
                await self.open()

    def show_pages(self, intake: UpdateIntake) -> None:
        """Serve the payment pages from now on, if there is a public address for them, and the webhook if there is one.

        `intake` saves the updates that the webhook receives.
        """
        app, settings = self._app, self._app.settings
        webhook = app.webhook_registration.webhook
        pages = RequestPages(
            app.payment_requests.pay_service,
            app.payment_requests.reports,
            clock=app.clock,
            vault=Vault(settings.sealing_keys),
            translations=app.infra.translations,
            site=Site(Files(), create_provider(settings), settings.public_url, app.infra.messenger.username),
            proxies=settings.trusted_proxies,
        )
        self.public.app = create_app(
            database=app.database,
            clock=app.clock,
            translations=app.infra.translations,
            public_url=settings.public_url,
            on_viewed=app.orders.viewed.record_viewed_page,
            health=self._health,
            provider=create_provider(settings),
            bot=app.infra.messenger.username,
            times=app.orders.payout_times.get,
            destinations=app.orders.destinations.get,
            payers=PayersOfPages(
                orders=app.orders.service, find_origin=pages.find_origin, contact=settings.support_contact
            ),
            more_routes=(*pages.routes(), *(() if webhook is None else (WebhookHandler(webhook, intake).route(),))),
        )

    async def close(self) -> None:
        """Close every port within about a second."""
        await self._serving.aclose()
