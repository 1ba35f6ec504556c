"""The bot, run by `bot.process.run` within the test's process."""

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
    """A bot that runs within the test. Tests read its log events and its exit code."""

    def __init__(self, settings: Settings, logs: list[MutableMapping[str, Any]]) -> None:
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(process.run(settings, self.stop))
        self._logs = logs

    def log_entries(self, event: str) -> list[MutableMapping[str, Any]]:
        """Return the log entries of this event."""
        return [entry for entry in self._logs if entry["event"] == event]

    async def logs(self, event: str) -> None:
        """Wait until the bot has logged this event."""

        async def has_logged() -> bool:
            assert not self.task.done(), (self.task, self._logs)
            return bool(self.log_entries(event))

        await until(has_logged, what=event)

    async def ends(self) -> int:
        """Wait until the bot ends. Return the exit code."""
        return await asyncio.wait_for(self.task, TIMEOUT_SECONDS)


def create_settings(database: str, **others: str) -> Settings:
    """Return the settings of a bot on `database`. `others` come from a sandbox."""
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
    """Run the bot on `database`. Telegram can't be reached unless `others` have its address."""
    with capture_logs() as logs:
        process = Process(create_settings(database, **others), logs)
        try:
            yield process
        finally:
            process.stop.set()
            process.task.cancel()
            await asyncio.wait({process.task})
