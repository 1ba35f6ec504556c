"""The sandbox's settlement service: the whole settlement API as a server for integration tests.

`create_app` puts the parts of `bot.sandbox.service` together. `server_config` configures the server so that dropped
connections really are dropped. `/v1` is what the document describes. `/control` exists only in the sandbox.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware

from bot.sandbox.service import api, control, lifecycle
from bot.sandbox.service.book import OrderBook, Storage
from bot.sandbox.service.faults import FaultBook, FaultLayer, RequestLog
from bot.sandbox.service.invoices import Node
from bot.sandbox.service.market import MethodsList, Quote, QuoteBoard
from bot.sandbox.service.settings import HANDLERS, Switches, profile_named
from bot.sandbox.wire import server_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.sandbox.service.market import Row

__all__ = ["SANDBOX_API_KEY", "SettlementSandboxSettings", "create_app", "server_config"]

# It opens only a sandbox on the same machine, so it isn't a secret.
SANDBOX_API_KEY: Final = "pk_live_sandbox.not-a-secret-0123456789abcdef"
_TICK_SECONDS: Final = 0.5
_SEED: Final = 21
"""Of the random prices."""

log = structlog.get_logger(__name__)


class Service:
    """The service as its endpoints use it.

    There are two clocks. `true_now` decides when things happen. `now` is the service's clock, which a setting can put
    ahead or behind.
    """

    def __init__(
        self,
        *,
        state_path: Path | None,
        switches: Switches,
        seed: int,
        api_key: str,
        clock: Callable[[], datetime],
    ) -> None:
        self.storage = Storage(state_path)
        self.switches = switches
        self.api_key = api_key
        self.true_now = clock
        self.book = OrderBook(self.storage)
        self.revoked: set[str] = set()
        """The ids of keys that don't open any more."""
        self.node = Node(self.storage)
        self.methods = MethodsList()
        self.quotes = QuoteBoard(self.storage, seed)
        self.read_at: dict[str, datetime] = {}
        """When each order was last read."""
        self.faults = FaultBook()
        self.requests = RequestLog(clock)

    @property
    def skew(self) -> timedelta:
        """Return how far the service's clock is ahead."""
        return timedelta(seconds=self.switches.clock_skew_seconds)

    def now(self) -> datetime:
        """Return the time by the service's clock, aware UTC."""
        return self.true_now() + self.skew

    def quote(self) -> Quote:
        """Return the quote to show and to lock."""
        return self.quotes.current(self.now(), self.switches.quote_ttl_seconds)

    def listing(self) -> list[Row]:
        """Return the payout methods as listed now."""
        return self.methods.listing(self.switches.profile, self.true_now(), self.switches.methods_ttl_seconds)

    def close(self) -> None:
        """Close the state file."""
        self.storage.close()


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementSandboxSettings:
    """Settings of a sandbox service.

    Attributes:
        state_path: the SQLite file that keeps orders, the node's key and the price; None keeps everything in memory.
        profile: "documented" or "live".
        speed_seconds: between two states of a paid order; None means manually.
        clock: true time, aware UTC.
        sleep: waits for delays.
    """

    state_path: Path | None = None
    profile: str = "documented"
    speed_seconds: float | None = 3.0
    clock: Callable[[], datetime] = _utc_now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def create_app(settings: SettlementSandboxSettings) -> Starlette:
    """Return the service as an ASGI app. `app.state.service` is the service itself, for tests that change its clock.

    Raises:
        ControlRefusal: there is no such profile.
    """
    service = _service(settings)
    app = Starlette(
        routes=[*api.routes(service), *control.routes(service)],
        middleware=[Middleware(FaultLayer, service=service, sleep=settings.sleep)],
        exception_handlers=HANDLERS,
        lifespan=_lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _service(settings: SettlementSandboxSettings) -> Service:
    service = Service(
        state_path=settings.state_path,
        switches=Switches(profile=profile_named(settings.profile), speed_seconds=settings.speed_seconds),
        seed=_SEED,
        api_key=SANDBOX_API_KEY,
        clock=settings.clock,
    )
    service.book.overdue_start_now(settings.clock())
    return service


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    service: Service = app.state.service
    moving = asyncio.create_task(_move_orders(service))
    try:
        yield
    finally:
        moving.cancel()
        with suppress(asyncio.CancelledError):
            await moving
        service.close()


async def _move_orders(service: Service) -> None:
    """Keep the state file up to date. Requests don't depend on it, because each of them ticks, too."""
    while True:
        try:
            lifecycle.tick(service)
        except sqlite3.Error as error:
            log.warning("tick_failed", error=type(error).__name__)
        await asyncio.sleep(_TICK_SECONDS)
