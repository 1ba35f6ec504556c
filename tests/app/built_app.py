"""The bot, built with settings that reach no service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.app import App, build
from bot.config import load
from tests.infra.keys import ENCRYPTION_KEYS


@asynccontextmanager
async def built_app(database: str, **settings: object) -> AsyncIterator[App]:
    """Yield the parts of the bot, not started, on this database."""
    app = build(
        load(
            None,
            telegram_bot_token="1:AAAA",
            service_api_key="pk_live_made.up",
            service_base_url="http://127.0.0.1:9",
            database_url=database,
            encryption_keys=ENCRYPTION_KEYS,
            **settings,
        )
    )
    yield app
    await app.settlement.aclose()
    await app.database.close()
