"""A local Telegram: a Bot API server on loopback that a bot can't tell from the real one.

`create_app` gives a Starlette application: `/bot{token}/{method}` and `/file/bot{token}/{path}` for the bot, and
`/sandbox/…` for the sandbox's users (the chat page, or a test that plays a user). `bot.sandbox.bot_api` describes the
parts. `app.state.box` holds all of it, for tests that report what happened. Start it with
`bot.sandbox.wire.server_config`, which can drop connections.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route

from bot.sandbox.bot_api.box import EventLog, Sandbox
from bot.sandbox.bot_api.endpoint import BotApi, download
from bot.sandbox.bot_api.limits import RateLimiter
from bot.sandbox.bot_api.model import (
    ALERT_BOT_TOKEN,
    SANDBOX_TOKEN,
    SUPPORT_GROUP_ID,
    Limits,
    TelegramSandboxSettings,
)
from bot.sandbox.bot_api.people_api import PeopleApi
from bot.sandbox.bot_api.updates import UpdateQueue, keep_delivering
from bot.sandbox.bot_api.world import Journal, World, keep_flushing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

__all__ = ["ALERT_BOT_TOKEN", "SANDBOX_TOKEN", "SUPPORT_GROUP_ID", "Limits", "TelegramSandboxSettings", "create_app"]


def create_app(settings: TelegramSandboxSettings, extra_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """Return the server. `extra_routes` (the chat page) are served at the same address."""
    box = _open(settings)

    async def file(request: Request) -> Response:
        return await download(box, request.path_params["path"])

    routes = [
        Route("/bot{path:path}", BotApi(box)),
        Route("/file/bot{path:path}", file),
        *PeopleApi(box).routes(),
        *extra_routes,
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # A kill must not forget that numbers were given.
        await box.world.journal.flush()
        work = [asyncio.create_task(keep_flushing(box.world.journal)), asyncio.create_task(keep_delivering(box))]
        try:
            yield
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            box.world.journal.close()

    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.box = box
    return app


def _open(settings: TelegramSandboxSettings) -> Sandbox:
    world = World(settings, Journal(settings.state_path))
    return Sandbox(
        world=world,
        events=EventLog(world.state.last_event),
        updates=UpdateQueue(world, world.pending_updates),
        limiter=RateLimiter(settings.limits),
    )
