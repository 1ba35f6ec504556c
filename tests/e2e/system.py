"""The system of end-to-end tests: both sandbox servers over real HTTP, and an unmodified bot in its own process.

Tests act as users do: they write, press buttons, and wait for messages. They read the results from the chats and from
the service.
"""

import asyncio
import atexit
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path

import httpx
from starlette.types import ASGIApp

from bot.infra.db import migrate
from bot.sandbox.run import Addresses, SandboxOptions, bot_environment, servers
from tests.e2e import failure_report
from tests.e2e.application_client import ApplicationClient
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.launcher import Child, launcher
from tests.waiting import TIMEOUT_SECONDS, until

ALL = 100_000

USUAL = {
    "POLL_INTERVAL_SECONDS": "1",
    "LOG_FORMAT": "json",
    # Only the tests of Telegram's limits need them.
    "CHAT_MESSAGES_PER_SECOND": "30",
    "GROUP_MESSAGES_PER_MINUTE": "1800",
}


class ServiceControl:
    """Control of the settlement service of the sandbox."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def orders(self, recipient: str | None = None) -> list[Json]:
        """Return all orders, or those to one recipient's number, newest first."""
        params: dict[str, int | str] = {"limit": ALL} | ({} if recipient is None else {"recipient": recipient})
        answer = await self._http.get("/control/orders", params=params)
        found: list[Json] = answer.raise_for_status().json()["orders"]
        return found

    async def order(self, order_id: str) -> Json:
        """Return an order as it is now."""
        answer = await self._http.get("/control/orders", params={"orderId": order_id})
        (found,) = answer.raise_for_status().json()["orders"]
        return dict(found)

    async def does(self, action: str, /, **body: object) -> Json:
        """POST to the control endpoint `action`."""
        answer = await self._http.post(f"/control/{action}", json=body)
        result: Json = answer.raise_for_status().json()
        return result

    async def pays(self, order: Json, *, late: bool = False) -> Json:
        """Pay an order."""
        return await self.does("pay", orderId=order["id"], late=late)

    async def fails_with(
        self, fault: str, *, method: str = "POST", path: str = "/v1/offramp/orders", **more: object
    ) -> None:
        """Switch a fault on."""
        await self.does("faults", fault=fault, method=method, path=path, **more)

    async def heals(self) -> None:
        """Switch all faults off."""
        (await self._http.delete("/control/faults")).raise_for_status()

    async def forgets_method(self, code: str) -> None:
        """Remove a destination from the live list."""
        answer = await self._http.request("DELETE", "/control/methods", json={"bankCode": code, "flush": True})
        answer.raise_for_status()

    async def methods(self) -> list[Json]:
        """Return the destinations of the live list."""
        listed: list[Json] = (await self._http.get("/control/methods")).raise_for_status().json()["methods"]
        return listed

    async def lists_method(self, code: str, **changes: object) -> None:
        """Change fields of a destination in the live list."""
        rows = [{**row, **changes} if row["bankCode"] == code else row for row in await self.methods()]
        await self.does("methods", methods=rows, flush=True)

    async def lists_all_methods(self) -> None:
        """Put all destinations back on the live list."""
        (await self._http.request("DELETE", "/control/methods", json={"flush": True})).raise_for_status()

    async def requests(self) -> Json:
        """Return the counters of requests, and the recent ones."""
        answer: Json = (await self._http.get("/control/requests")).raise_for_status().json()
        return answer


class System:
    """The sandbox servers, and the bot, which can be started and killed."""

    def __init__(self, addresses: Addresses, environment: Mapping[str, str], state: Path) -> None:
        self.addresses = addresses
        self.environment = dict(environment)
        self.state = state
        self.log = state / "bot.log"
        # The bot uses real HTTP. Users send far more requests, so theirs go to the application directly.
        self.telegram = _create_client(addresses.page, addresses.page_app)
        self.control = _create_client(addresses.service, addresses.service_app)
        self.service = ServiceControl(self.control)
        self.emma = ChatUser(self.telegram, 1001)
        self.sari = ChatUser(self.telegram, 1002)
        self.oscar = ChatUser(self.telegram, 2001)
        self.rina = ChatUser(self.telegram, 3001)
        self.bot: Child | None = None

    async def start_bot(self, **settings: str) -> None:
        """Start the bot, and wait until it runs."""
        self.environment |= settings
        before = self._starts()
        with self.log.open("ab") as log:
            environment = {**_inherited(), **self.environment}
            self.bot = await launcher().start(["run"], environment=environment, log=log.fileno())
        await until(partial(self._has_started, before), what="the bot's start")

    async def kill_bot(self) -> None:
        """Kill the bot with SIGKILL."""
        if self.bot is not None and self.bot.returncode is None:
            self.bot.kill()
            await self.bot.wait()

    async def stop_bot(self) -> int:
        """Stop the bot with SIGTERM, and return its exit code. A held call (`faults.py`) makes this fail."""
        assert self.bot is not None
        self.bot.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.bot.wait(), TIMEOUT_SECONDS)

    @asynccontextmanager
    async def another_bot(self, **settings: str) -> AsyncIterator[None]:
        """Run a bot with other settings within the block, and the usual one after it."""
        usual = dict(self.environment)
        await self.kill_bot()
        await self.start_bot(**settings)
        try:
            yield
        finally:
            await self.kill_bot()
            self.environment = usual
            await self.start_bot()

    async def telegram_fails(self, fault: str, method: str | None = None, **more: object) -> None:
        """Switch a fault of the Bot API on."""
        answer = await self.telegram.post("/sandbox/faults", json={"fault": fault, "method": method, **more})
        answer.raise_for_status()

    async def telegram_heals(self) -> None:
        """Switch all faults of the Bot API off."""
        (await self.telegram.delete("/sandbox/faults")).raise_for_status()

    async def calls(self, method: str | None = None) -> list[Json]:
        """Return the calls of the Bot API so far, of all methods or of one."""
        answer = await self.telegram.get("/sandbox/calls", params={"method": method} if method else {})
        found: list[Json] = answer.raise_for_status().json()["calls"]
        return found

    async def close(self) -> None:
        """Stop the bot, and close all connections."""
        await self.kill_bot()
        await self.telegram.aclose()
        await self.control.aclose()

    async def _has_started(self, before: int) -> bool:
        assert self.bot is not None
        assert self.bot.returncode is None, "the bot ended at its start"
        return self._starts() > before

    def read_log(self) -> str:
        """Return what the bot has logged."""
        return self.log.read_text() if self.log.exists() else ""

    def _starts(self) -> int:
        return self.read_log().count('"event": "bot_started"')


@asynccontextmanager
async def running_system(state: Path, profile: str = "documented", **settings: str) -> AsyncIterator[System]:
    """Start the servers and the bot. `settings` are added to the bot's environment."""
    options = SandboxOptions(state=state, profile=profile, page_port=0, service_port=0)
    async with servers(options) as addresses:
        made = System(addresses, bot_environment(state, addresses) | USUAL | settings, state)
        async with started(made):
            yield made


@asynccontextmanager
async def started(made: System) -> AsyncIterator[None]:
    """Start the bot of a system whose servers run, and close it after the block. Report it if the block fails."""
    if not (made.state / "kirim.db").exists():
        shutil.copy(_empty_database(), made.state / "kirim.db")
    failure_report.opened(made)
    try:
        (await made.telegram.post("/sandbox/limits", json={"enforce": False})).raise_for_status()
        await made.service.does("settings", speedSeconds=None)
        await made.start_bot()
        yield
    except BaseException:
        failure_report.failed(made)
        raise
    finally:
        failure_report.closed(made)
        await made.close()


@cache
def _empty_database() -> Path:
    """Return a database with empty tables, made once for each process. Other tests cover that the bot makes them."""
    folder = tempfile.TemporaryDirectory(prefix="kirim-empty-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "kirim.db"
    # It needs its own event loop, and this thread has one.
    thread = threading.Thread(target=asyncio.run, args=[migrate.upgrade(str(path))])
    thread.start()
    thread.join()
    return path


def _create_client(address: str, app: ASGIApp | None) -> httpx.AsyncClient:
    if app is None:
        return httpx.AsyncClient(base_url=address, timeout=TIMEOUT_SECONDS)
    return ApplicationClient(app, address)


def _inherited() -> dict[str, str]:
    # Settings of the machine that runs the tests must not reach the bot under test.
    return {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "PYTHONPATH"}}
