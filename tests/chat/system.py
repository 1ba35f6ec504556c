"""The whole bot in the process of the tests, for stories that need no other process and no network.

The bot is `bot.process.run` with all its handlers, queues and workers, and a database in a file. Telegram and the
settlement service are the sandbox's. Only what opens connections is replaced: requests go to the sandbox's applications
in this process. So a story is written as an end-to-end test (`tests/e2e`), with the same client (`ChatUser`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send
from telegram.request import RequestData

import bot.app
import bot.process
from bot.config import load
from bot.infra.telegram.outcomes import Unanswered
from bot.infra.telegram.transport import TelegramRequest, _check_status
from bot.sandbox import settlement, telegram
from bot.sandbox.run import Addresses, bot_environment
from bot.sandbox.wire import TRANSPORT
from bot.settlement.client import SettlementClient
from bot.settlement.errors import NoAnswer, TooLate
from bot.settlement.http import RawResponse
from bot.settlement.http import Request as ServiceRequest
from tests.e2e import failure_report
from tests.e2e.application_client import ApplicationClient
from tests.e2e.system import USUAL, System, started
from tests.waiting import TIMEOUT_SECONDS

TELEGRAM, SERVICE = "https://telegram.invalid", "https://service.invalid"
"""Addresses that lead nowhere, so a request that isn't replaced fails."""


class Dropped(Exception):
    """The application has closed the connection without an answer."""


class Connection:
    """What an application sees of a connection."""

    is_open = True

    def abort(self) -> None:
        """Close the connection."""
        self.is_open = False


def with_connections(app: ASGIApp) -> ASGIApp:
    """Return the application, but it can drop a connection. A call of it then raises `Dropped`."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        connection = Connection()
        scope.setdefault("extensions", {})[TRANSPORT] = connection
        await app(scope, receive, send)
        if not connection.is_open:
            raise Dropped

    return call


class TelegramInProcess(TelegramRequest):
    """Makes the bot's calls to the Bot API in this process. A subclass says which client carries them."""

    client: httpx.AsyncClient

    async def _send(self, url: str, method: str, request_data: RequestData | None, limits: Any) -> tuple[int, bytes]:
        self._check_may_call()
        files = request_data.multipart_data if request_data is not None and request_data.contains_files else None
        fields = request_data.json_parameters if request_data is not None else None
        try:
            async with asyncio.timeout(limits.total):
                answer = await self.client.request(method, url, data=fields, files=files)
        except (Dropped, TimeoutError) as error:
            raise Unanswered(f"no answer from Telegram: {type(error).__name__}") from None
        _check_status(answer.status_code, answer.content)
        return answer.status_code, answer.content


class ServiceInProcess:
    """Carries the bot's requests to the settlement service in this process (`client.http.Transport`)."""

    def __init__(self, app: ASGIApp) -> None:
        self._client = ApplicationClient(with_connections(app), SERVICE)

    async def send(self, request: ServiceRequest, seconds: float) -> RawResponse:
        """Send one request, and return the answer with its date, as a server does."""
        if not request.may_send():
            raise TooLate
        try:
            async with asyncio.timeout(seconds):
                answer = await self._client.request(
                    request.method, request.url, headers=dict(request.headers), content=request.body
                )
        except (Dropped, TimeoutError) as error:
            raise NoAnswer(type(error).__name__) from None
        answer.headers.setdefault("date", formatdate(usegmt=True))
        return RawResponse(answer.status_code, answer.headers, answer.content)

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()


class InProcessSystem(System):
    """The sandbox's applications, and a bot in this process. Nothing can kill it, but it can be stopped and started."""

    def __init__(self, addresses: Addresses, environment: Mapping[str, str], state: Path) -> None:
        super().__init__(addresses, environment, state)
        self._stop = asyncio.Event()
        self._running: asyncio.Task[int] | None = None

    async def start_bot(self, **settings: str) -> None:
        """Start the bot, and wait until it runs."""
        page_app, service_app = self.addresses.page_app, self.addresses.service_app
        assert page_app is not None
        assert service_app is not None
        self.environment |= settings
        self._stop.clear()
        known = load(None, **{name.lower(): value for name, value in self.environment.items()})
        to_telegram = ApplicationClient(with_connections(page_app), TELEGRAM)

        class Request(TelegramInProcess):
            client = to_telegram

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bot.app, "TelegramRequest", Request)
            patch.setattr(bot.process, "TelegramRequest", Request)
            patch.setattr(
                bot.app,
                "SettlementClient",
                partial(SettlementClient, transport=ServiceInProcess(service_app)),
            )
            before = self._starts()
            running = asyncio.create_task(bot.process.run(known, self._stop))
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while self._starts() == before:
                    if running.done():
                        raise AssertionError("the bot ended at its start") from running.exception()
                    await asyncio.sleep(0.01)
        self._running = running

    async def stop_bot(self) -> int:
        """Stop the bot, and return its exit code."""
        assert self._running is not None
        self._stop.set()
        running, self._running = self._running, None
        return await asyncio.wait_for(running, TIMEOUT_SECONDS)

    async def kill_bot(self) -> None:
        """Stop the bot if it runs. A story about a kill needs a process (`tests/e2e`)."""
        if self._running is not None:
            await self.stop_bot()

    def read_log(self) -> str:
        """Return what the test, the bot and the sandbox have logged since the test began."""
        return "\n".join(json.dumps(entry, default=str) for entry in failure_report.logged())


@asynccontextmanager
async def running_in_process(
    state: Path, profile: str = "documented", **settings: str
) -> AsyncIterator[InProcessSystem]:
    """Start the applications, which keep nothing on disk, and the bot. `settings` are added to its environment."""
    service_app = settlement.create_app(settlement.SettlementSandboxSettings(profile=profile))
    telegram_app = telegram.create_app(telegram.TelegramSandboxSettings())
    addresses = Addresses(TELEGRAM, SERVICE, None, telegram_app, service_app)
    async with AsyncExitStack() as stack:
        for app in (service_app, telegram_app):
            await stack.enter_async_context(app.router.lifespan_context(app))
        made = InProcessSystem(addresses, bot_environment(state, addresses) | USUAL | settings, state)
        async with started(made):
            yield made
