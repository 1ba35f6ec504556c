"""The pages by which others watch the process: `/livez`, `/readyz`, `/healthz`, and `/metrics` on a port of its own."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, Counter, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown, StoreError
from bot.infra.http.server import SecurityHeadersMiddleware
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState

WITHIN_SECONDS = 2.0
FRESH_SECONDS = 1.0
LIVE_LAG_SECONDS = 5.0

REFRESH_FAILURES: Final = Counter(
    "kirim_gauges_not_refreshed", "Requests for metrics that showed older values, because the database failed."
)


class Health:
    """Answers the three pages. It checks the database at most once a second, however many requests arrive."""

    def __init__(
        self, database: Database, state: ProcessState, lag: LoopLag, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._state = state
        self._lag = lag
        self._seconds = seconds
        self._checking: asyncio.Task[tuple[bool, bool]] | None = None
        self._checked_at = 0.0

    def routes(self) -> list[Route]:
        """Return the routes of the three pages."""
        return [
            Route("/livez", self._answer_live, methods=["GET"]),
            Route("/readyz", self._answer_ready, methods=["GET"]),
            Route("/healthz", self._answer_healthy, methods=["GET"]),
        ]

    async def _answer_live(self, _request: Request) -> Response:
        """Answer 200 while the event loop runs timers less than five seconds late, else 503. A standby is live, too."""
        is_live = self._lag.seconds < LIVE_LAG_SECONDS
        return _answer("live" if is_live else "stuck", is_good=is_live, lag_seconds=round(self._lag.seconds, 3))

    async def _answer_ready(self, _request: Request) -> Response:
        """Answer 200 if this process can work in chats now, else 503."""
        database, tables = await self._check_database()
        parts = {
            "database": database,
            "tables": tables,
            "writes": self._state.can_write,
            "leases": self._state.are_leases_kept(),
            "workers": self._state.are_workers_alive(),
            "stopping": self._state.is_stopping,
        }
        is_ready = all(value is (name != "stopping") for name, value in parts.items())
        reason = {"waits_for": self._state.waits_for} if self._state.waits_for else {}
        return _answer("ready" if is_ready else "not ready", is_good=is_ready, **parts, **reason)

    async def _answer_healthy(self, _request: Request) -> Response:
        """Answer 200 if the database answers and every worker runs, else 503."""
        database, _ = await self._check_database()
        workers = self._state.are_workers_alive()
        is_healthy = database and workers
        return _answer("ok" if is_healthy else "unwell", is_good=is_healthy, database=database, workers=workers)

    async def _check_database(self) -> tuple[bool, bool]:
        """Return whether the database answers, and whether this program can work on its tables."""
        if self._checking is None or (self._checking.done() and self._seconds() - self._checked_at >= FRESH_SECONDS):
            self._checking = asyncio.create_task(self._check())
            self._checked_at = self._seconds()
        return await asyncio.shield(self._checking)

    async def _check(self) -> tuple[bool, bool]:
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                return True, await self._database.has_usable_tables()
        except (StoreError, TimeoutError):
            return False, False


def create_health_app(health: Health) -> ASGIApp:
    """Return an application with nothing but the three pages."""
    app = Starlette(routes=health.routes(), exception_handlers={404: _not_found, 405: _not_found})
    app.router.redirect_slashes = False
    return SecurityHeadersMiddleware(app, encrypted=False)


def create_metrics_app(refresh: Callable[[], Awaitable[object]]) -> ASGIApp:
    """Return an application with `/metrics` for Prometheus, and nothing else.

    `refresh` sets the gauges that are read from the database, at each request. If the database doesn't answer
    within two seconds, these gauges keep their last values. All others are shown, and the requests that can't be
    answered are seen in the database's own metrics.
    """

    async def answer(_request: Request) -> Response:
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                await refresh()
        except (StoreDown, TimeoutError):
            REFRESH_FAILURES.inc()
        return Response(generate_latest(), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])


async def _not_found(_request: Request, _error: Exception) -> Response:
    return Response(status_code=404)


def _answer(status: str, *, is_good: bool, **parts: object) -> Response:
    return JSONResponse({"status": status, **parts}, status_code=200 if is_good else 503)
