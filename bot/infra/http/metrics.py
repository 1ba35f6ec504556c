"""The web application of `METRICS_PORT`: `/metrics` for Prometheus, and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, Counter, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.infra.db.errors import StoreDown

WITHIN_SECONDS = 2.0

REFRESH_FAILURES: Final = Counter(
    "kirim_gauges_not_refreshed", "Requests for metrics that showed older values, because the database failed."
)


def create_metrics_app(refresh: Callable[[], Awaitable[object]]) -> ASGIApp:
    """Return the application. `refresh` sets the gauges that are read from the database, at each request.

    If the database doesn't answer within two seconds, these gauges keep their last values. All others are shown, and
    the requests that can't be answered are seen in the database's own metrics.
    """

    async def answer(_request: Request) -> Response:
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                await refresh()
        except (StoreDown, TimeoutError):
            REFRESH_FAILURES.inc()
        return Response(generate_latest(), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])
