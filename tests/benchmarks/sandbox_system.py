"""Both sandbox servers in this process, the bot in a separate one, and the times of all messages that users see.

`ChatEvents` reads the sandbox's stream of events. Polling 200 chats would disturb the measurement.
"""

import asyncio
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bot.sandbox.bot_api.model import TotalLimit
from bot.sandbox.run import Addresses, SandboxOptions, bot_environment, servers
from tests.benchmarks.processes import Process, running_program
from tests.e2e.chat_user import text_of
from tests.e2e.system import ServiceControl
from tests.infra.keys import ENCRYPTION_KEYS

TIMEOUT_SECONDS = 90.0
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """A new or edited message in a chat. `at` is a time of `time.perf_counter`."""

    at: float
    kind: str
    message: Json


@dataclass(slots=True)
class ChatEvents:
    """The bot's messages by chat."""

    seen: dict[int, list[ChatEvent]] = field(default_factory=lambda: defaultdict(list))
    changed: dict[int, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))

    def take(self, event: Json) -> None:
        """Record one event of the stream."""
        if event["type"] in {"message", "edit"} and event["message"].get("from", {}).get("is_bot"):
            chat_id = event["chat_id"]
            self.seen[chat_id].append(ChatEvent(time.perf_counter(), event["type"], event["message"]))
            self.changed[chat_id].set()

    async def first(self, chat_id: int, text: str, since: float, within: float = TIMEOUT_SECONDS) -> ChatEvent:
        """Return the first message in a chat since then whose text matches.

        Raises:
            TimeoutError: no such message arrived in time.
        """
        async with asyncio.timeout(within):
            while True:
                self.changed[chat_id].clear()
                for found in self.seen[chat_id]:
                    if found.at >= since and re.search(text, text_of(found.message)):
                        return found
                await self.changed[chat_id].wait()


@dataclass(slots=True, kw_only=True)
class SandboxSystem:
    """The servers, and the actions of users.

    `telegram` and `control` speak HTTP. `users` calls Telegram's application directly: 200 messages at once over HTTP
    would keep this process busy for half a second before the bot gets any of them.
    """

    folder: Path
    environment: dict[str, str]
    telegram: httpx.AsyncClient
    users: httpx.AsyncClient
    control: httpx.AsyncClient
    service: ServiceControl
    chat_events: ChatEvents

    @property
    def log(self) -> Path:
        """Return the path of the bot's log."""
        return self.folder / "bot.log"

    @property
    def database(self) -> str:
        """Return the URL of the bot's database."""
        return self.environment["DATABASE_URL"]

    async def user(self, number: int) -> int:
        """Add a user who writes in English. Return their id, which is also their chat's."""
        answer = await self.telegram.post(
            "/sandbox/people", json={"first_name": f"Person {number}", "language_code": "en"}
        )
        return int(answer.raise_for_status().json()["id"])

    async def says(self, user: int, text: str) -> None:
        """Write to the bot. It can only write to users who have written to it."""
        message_body = {"from": user, "text": text}
        (await self.users.post(f"/sandbox/chats/{user}/send", json=message_body)).raise_for_status()

    @asynccontextmanager
    async def bot(self) -> AsyncIterator[Process]:
        """Run the bot within the block."""
        async with self.program("-m", "bot", "run") as process:
            yield process

    @asynccontextmanager
    async def program(self, *arguments: str, **settings: str) -> AsyncIterator[Process]:
        """Run `python ARGUMENTS`, which is a bot, within the block. `settings` are added to its environment."""
        starts = self._starts()
        async with running_program(*arguments, log=self.log, environment=self.environment | settings) as process:
            await self._runs(process, starts)
            yield process

    async def _runs(self, process: Process, starts: int) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while self._starts() == starts:
                if process.returncode is not None:
                    raise RuntimeError("the bot has ended")
                await asyncio.sleep(0.05)

    def _starts(self) -> int:
        return self.log.read_text(encoding="utf-8").count('"event": "bot_started"') if self.log.exists() else 0


@asynccontextmanager
async def open_system(*, telegram_limit: TotalLimit | None = None) -> AsyncIterator[SandboxSystem]:
    """Yield new servers without a bot. Orders only change when the benchmark changes them.

    `telegram_limit` is what Telegram's limit of 30 messages a second counts. None means no limits at all.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = SandboxOptions(state=folder, page_port=0, service_port=0)
        async with (
            servers(options) as addresses,
            httpx.AsyncClient(base_url=addresses.page, timeout=TIMEOUT_SECONDS) as telegram,
            httpx.AsyncClient(base_url=addresses.page, transport=_in_process(addresses)) as users,
            httpx.AsyncClient(base_url=addresses.service, timeout=TIMEOUT_SECONDS) as control,
        ):
            # The bot must be able to decrypt the orders that `active_orders` inserts.
            settings = {"ENCRYPTION_KEYS": ENCRYPTION_KEYS, "LOG_FORMAT": "json", "LOG_LEVEL": "info"}
            # Simulated users write faster than these limits allow.
            settings |= {"MAX_MESSAGES_PER_MINUTE": "0", "MAX_OPEN_ORDERS": "0", "MAX_ORDERS_PER_HOUR": "0"}
            environment = bot_environment(folder, addresses) | settings
            made = SandboxSystem(
                folder=folder,
                environment=environment,
                telegram=telegram,
                users=users,
                control=control,
                service=ServiceControl(control),
                chat_events=ChatEvents(),
            )
            limits = {"enforce": telegram_limit is not None, "total_applies_to": telegram_limit or "all"}
            (await telegram.post("/sandbox/limits", json=limits)).raise_for_status()
            await made.service.does("settings", speedSeconds=None)
            watching = asyncio.create_task(_watch(telegram, made.chat_events))
            yield made
            watching.cancel()


def _in_process(addresses: Addresses) -> httpx.ASGITransport:
    assert addresses.page_app is not None
    return httpx.ASGITransport(addresses.page_app)


async def _watch(telegram: httpx.AsyncClient, chat_events: ChatEvents) -> None:
    async with telegram.stream("GET", "/sandbox/events", params={"after": 0}, timeout=None) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                chat_events.take(json.loads(line.removeprefix("data: ")))
