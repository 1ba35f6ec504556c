"""The sandbox's settlement service on a loopback port, with a clock that the test moves."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx

from bot.sandbox.settlement import SANDBOX_API_KEY, SettlementSandboxSettings, create_app
from bot.settlement.client import SettlementClient
from bot.settlement.http import RetryPolicy, Timeouts
from tests.sandbox.serving import serving
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

BEGINNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """The service's time, which moves only with `sleep`."""

    now: datetime = BEGINNING

    def read(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return (self.now - BEGINNING).total_seconds()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += timedelta(seconds=seconds)


@dataclass(slots=True)
class SandboxService:
    """A running service, its clock and its control endpoints."""

    url: str
    clock: Clock
    control_client: httpx.AsyncClient

    def client(self, api_key: str = SANDBOX_API_KEY, **options: Any) -> SettlementClient:
        """Return a client, by default without retries."""
        options.setdefault("retry", RetryPolicy(attempts=1))
        options.setdefault("timeouts", Timeouts(*[TIMEOUT_SECONDS] * 4))
        return SettlementClient(
            self.url, api_key, **{"clock": self.clock.seconds, "sleep": self.clock.sleep, **options}
        )

    async def control(self, verb: str, where: str, /, **body: object) -> dict[str, Any]:
        """Call a control endpoint."""
        answer = await self.control_client.request(verb, f"{self.url}/control{where}", json=body)
        answer.raise_for_status()
        result: dict[str, Any] = answer.json()
        return result

    async def fault(self, name: str, **more: object) -> None:
        """Add a fault for the next POST."""
        await self.control("POST", "/faults", **{"fault": name, "method": "POST", "times": 1} | more)

    async def list_requests(self, method: str, path: str) -> list[dict[str, Any]]:
        """Return the service's log of requests to a path, newest first."""
        recent = (await self.control("GET", "/requests"))["recent"]
        return [entry for entry in recent if (entry["method"], entry["path"]) == (method, path)]

    async def orders_made(self) -> int:
        """Return the number of orders of all tenants."""
        return len((await self.control("GET", "/orders"))["orders"])


@contextlib.asynccontextmanager
async def sandbox_service(
    profile: str, *, sleep: Callable[[float], Awaitable[None]] | None = None
) -> AsyncIterator[SandboxService]:
    """Yield a service in one of the two profiles, without orders. `sleep` replaces its delays, default is real time."""
    over = asyncio.Event()

    async def wait(seconds: float) -> None:
        """Wait. The end of the service ends the wait."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), seconds)

    sleep = sleep or wait
    clock = Clock()
    app = create_app(SettlementSandboxSettings(profile=profile, clock=clock.read, sleep=sleep))
    async with serving(app) as url, httpx.AsyncClient() as control_client:
        try:
            yield SandboxService(url, clock, control_client)
        finally:
            over.set()
