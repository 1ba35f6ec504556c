"""`/healthz`, which shows monitoring whether the bot works, and nothing else."""

import asyncio
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown

WITHIN_SECONDS = 2.0
FRESH_SECONDS = 1.0


class Health:
    """Answers `/healthz`. It checks the database at most once a second, however many requests arrive."""

    def __init__(
        self, store: Database, is_healthy: Callable[[], bool], *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._is_healthy = is_healthy
        self._seconds = seconds
        self._checking: asyncio.Task[bool] | None = None
        self._checked_at = 0.0

    async def answer(self, _request: Request) -> Response:
        """Answer 200 if the database answers and every worker runs, else 503."""
        database, workers = await self._database(), self._is_healthy()
        is_healthy = database and workers
        parts = {"status": "ok" if is_healthy else "unwell", "database": database, "workers": workers}
        return JSONResponse(parts, status_code=200 if is_healthy else 503)

    async def _database(self) -> bool:
        if self._checking is None or (self._checking.done() and self._seconds() - self._checked_at >= FRESH_SECONDS):
            self._checking = asyncio.create_task(self._check())
            self._checked_at = self._seconds()
        return await asyncio.shield(self._checking)

    async def _check(self) -> bool:
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                await self._store.ping()
        except (StoreDown, TimeoutError):
            return False
        return True
