"""The sandbox's settlement service: the whole settlement API as a server for integration tests.

`create_app` puts the parts of `bot.sandbox.service` together. `server_config` configures the server so that dropped
connections really are dropped. `/v1` is what the document describes. `/control` exists only in the sandbox.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware

from bot.sandbox.service import api
from bot.sandbox.service.control import control_orders, control_settings
from bot.sandbox.service.control.fault_layer import FaultLayer
from bot.sandbox.service.control.profile import profile_named
from bot.sandbox.service.control.switches import Switches
from bot.sandbox.service.error_answers import exception_handlers
from bot.sandbox.service.orders import lifecycle
from bot.sandbox.service.service import Service
from bot.sandbox.wire import server_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

__all__ = ["SANDBOX_API_KEY", "SANDBOX_TENANT", "SettlementSandboxSettings", "create_app", "server_config"]

SANDBOX_TENANT: Final = "kirim"
# It opens only a sandbox on the same machine, so it isn't a secret.
SANDBOX_API_KEY: Final = "pk_live_sandbox.not-a-secret-0123456789abcdef"
_TICK_SECONDS: Final = 0.5

log = structlog.get_logger(__name__)


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementSandboxSettings:
    """Settings of a sandbox service.

    Attributes:
        state_path: the SQLite file that keeps orders, keys, the node's key and the price; None keeps everything in
            memory.
        profile: "documented" or "live".
        api_keys: tenant to API key, valid from the start unless revoked since.
        network: the BOLT11 prefix of invoices.
        seed: of the random prices.
        speed_seconds: between two states of a paid order; None means manually.
        invoice_expiry_seconds: 1 or more. None: invoices have no expiry of their own.
        clock: true time, aware UTC.
        sleep: waits for delays.
    """

    state_path: Path | None = None
    profile: str = "documented"
    api_keys: Mapping[str, str] = field(default_factory=lambda: {SANDBOX_TENANT: SANDBOX_API_KEY})
    network: str = "bcrt"
    seed: int = 21
    speed_seconds: float | None = 3.0
    invoice_expiry_seconds: int | None = 3600
    clock: Callable[[], datetime] = _utc_now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def create_app(settings: SettlementSandboxSettings) -> Starlette:
    """Return the service as an ASGI app. `app.state.service` is the service itself, for tests that change its clock.

    Raises:
        ControlRefusal: there is no such profile or network.
        ValueError: a preset key is malformed.
    """
    service = _service(settings)
    app = Starlette(
        routes=[*api.routes(service), *control_orders.routes(service), *control_settings.routes(service)],
        middleware=[Middleware(FaultLayer, service=service, sleep=settings.sleep)],
        exception_handlers=exception_handlers(service),
        lifespan=_lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _service(settings: SettlementSandboxSettings) -> Service:
    switches = Switches(profile=profile_named(settings.profile)).changed(
        {
            "network": settings.network,
            "speedSeconds": settings.speed_seconds,
            "invoiceExpirySeconds": settings.invoice_expiry_seconds,
        },
    )
    service = Service(
        state_path=settings.state_path,
        switches=switches,
        seed=settings.seed,
        clock=settings.clock,
    )
    for tenant, api_key in settings.api_keys.items():
        service.keys.adopt(tenant, api_key)
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
