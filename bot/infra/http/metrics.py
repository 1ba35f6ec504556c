"""The web application of `METRICS_PORT`: `/metrics` for Prometheus, and nothing else."""

import asyncio
from collections.abc import Iterable

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.infra import metrics
from bot.infra.db.errors import StoreDown
from bot.infra.metrics import RefreshGauges

WITHIN_SECONDS = 2.0


def create_metrics_app(refresh: Iterable[RefreshGauges] = ()) -> ASGIApp:
    """Return the application. `refresh` sets the gauges that are read from the database, at each request.

    If the database doesn't answer within two seconds, these gauges keep their last values. All others are shown, and
    the requests that can't be answered are seen in the database's own metrics.
    """
    gauges = tuple(refresh)

    async def answer(_request: Request) -> Response:
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                await metrics.refresh(gauges)
        except (StoreDown, TimeoutError):
            metrics.REFRESH_FAILURES.inc()
        return Response(metrics.render(), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])
