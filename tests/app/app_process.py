"""The bot as `bot.process.run` runs it, within the test's own process."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from structlog.testing import capture_logs

from bot import process
from bot.config import Settings, load
from tests.infra.keys import ENCRYPTION_KEYS
from tests.waiting import TIMEOUT_SECONDS, until

NOWHERE = "http://127.0.0.1:9"


class Process:
    """The bot, run within the test: what it logs, and how it ends."""

    def __init__(self, settings: Settings, logs: list[MutableMapping[str, Any]]) -> None:
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(process.run(settings, self.stop))
        self._logs = logs

    def said(self, event: str) -> list[MutableMapping[str, Any]]:
        """What it has logged under this name."""
        return [entry for entry in self._logs if entry["event"] == event]

    async def says(self, event: str) -> None:
        """Wait until it has logged this."""

        async def has_said() -> bool:
            assert not self.task.done(), (self.task, self._logs)
            return bool(self.said(event))

        await until(has_said, what=event)

    async def ends(self) -> int:
        """Wait for its end; the exit code."""
        return await asyncio.wait_for(self.task, TIMEOUT_SECONDS)


def settings_of(database: str, **others: str) -> Settings:
    """The settings of a bot on `database`; `others` come from a sandbox."""
    usual = {
        "TELEGRAM_BOT_TOKEN": "1:" + "A" * 35,
        "TELEGRAM_API_URL": NOWHERE,
        "SERVICE_API_KEY": "pk_live_kirim.0123456789abcdef0123456789abcdef",
        "SERVICE_BASE_URL": NOWHERE,
        "ENCRYPTION_KEYS": ENCRYPTION_KEYS,
    }
    environment = usual | others | {"DATABASE_URL": database}
    return load(None, **{name.lower(): value for name, value in environment.items()})


@asynccontextmanager
async def running(database: str, **others: str) -> AsyncIterator[Process]:
    """Run the bot on `database`; Telegram is out of reach unless `others` say where it is."""
    with capture_logs() as logs:
        process = Process(settings_of(database, **others), logs)
        try:
            yield process
        finally:
            process.stop.set()
            process.task.cancel()
            await asyncio.wait({process.task})
