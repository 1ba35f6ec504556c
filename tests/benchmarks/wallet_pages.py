"""(g) 500 viewers on 500 wallet pages of a running bot: how long they wait, and how the chat slows down.

Each viewer does what the page does: load it with its QR code, and then read the state every two seconds with its ETag,
over a separate connection. The viewers run in the same process as the sandbox, which costs part of the measured time.
So they are measured against plain Starlette, too. The load on the bot is measured by its answers in a chat and its
share of a core, with and without viewers.
"""

import asyncio
import random
import socket
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path

import aiohttp
import psutil  # type: ignore[import-untyped]  # it has no stubs of its own

from bot.infra.db.database import Database
from bot.orders.order import new_page_token
from bot.orders.repository import OrderRepository
from tests.benchmarks import active_orders
from tests.benchmarks.processes import Process, running
from tests.benchmarks.report import Row, Spread, times_as_much
from tests.benchmarks.sandbox_system import SandboxSystem, open_system
from tests.infra.keys import VAULT
from tests.texts import like

VIEWERS, FEW_VIEWERS = 500, 20
SECONDS, FEW_SECONDS = 30.0, 6.0
COME_WITHIN = 1 / 3
"""The share of the time within which all viewers have opened their page."""

EVERY = 2.0
CHATS, BETWEEN_CHATS = 12, 0.2
"""Enough chats that Telegram's limit of one message a second in a chat delays no answer."""

TIMEOUT_SECONDS = 20.0
BARE = "tests.benchmarks.bare_pages"


@dataclass(slots=True)
class Waits:
    """How long viewers waited, in seconds. `others` counts failed requests."""

    pages: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    states: list[float] = field(default_factory=list)
    others: int = 0


@dataclass(frozen=True, slots=True)
class BotLoad:
    """The load on the bot: its answer times in chats, and its share of one core."""

    answers: Spread
    share: float


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    count, lasting = (FEW_VIEWERS, FEW_SECONDS) if quick else (VIEWERS, SECONDS)
    async with open_system() as system:
        address = _serves_pages(system)
        tokens = await _orders(system, count)
        async with system.bot() as process:
            people = [await system.user(number) for number in range(CHATS)]
            alone = await _beside(system, people, process, asyncio.sleep(lasting))
            one, many = Waits(), Waits()
            await _look(address, tokens[:1], lasting / 2, one)
            load = await _beside(system, people, process, _look(address, tokens, lasting, many))
    bare = Waits()
    async with _bare() as plain:
        await _look(plain, tokens, lasting, bare)
    if many.others or bare.others:
        raise RuntimeError(f"{many.others} answers of the bot and {bare.others} others were refusals")
    return [*_of_pages(count, one, many, bare), *_of_the_bot(alone, load)]


def _serves_pages(system: SandboxSystem) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    system.environment.update({"PUBLIC_URL": address, "HTTP_PORT": str(port)})
    return address


async def _orders(system: SandboxSystem, count: int) -> list[str]:
    """Insert unpaid orders with a page each, which the bot doesn't poll. Return the pages' tokens."""
    store = Database(system.database, VAULT)
    tokens = [new_page_token() for _ in range(count)]
    await store.upgrade()
    async with store.transaction() as tx:
        for number, token in enumerate(tokens):
            order = active_orders.an_order(f"page{number:08}", active_orders.ELSEWHERE + number, paid=False, within=0)
            await OrderRepository(tx).add(replace(order, page_token=token, next_poll_at=None))
    await store.close()
    return tokens


async def _look(address: str, tokens: list[str], lasting: float, waits: Waits) -> None:
    """Let all viewers open their page at a random time at the beginning, and keep it open."""
    until = time.perf_counter() + lasting
    comes = [random.uniform(0, lasting * COME_WITHIN) for _ in tokens]
    pages = [f"{address}/p/{token}" for token in tokens]
    await asyncio.gather(*(_viewer(page, after, until, waits) for page, after in zip(pages, comes, strict=True)))


async def _viewer(page: str, after: float, until: float, waits: Waits) -> None:
    await asyncio.sleep(after)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1), timeout=timeout) as browser:
        await _asks(browser, page, waits.pages, waits)
        await _asks(browser, f"{page}/qr.png", waits.pictures, waits)
        etag = ""
        while time.perf_counter() < until:
            etag = await _asks(browser, f"{page}/state?l=en", waits.states, waits, etag)
            await asyncio.sleep(EVERY * random.uniform(0.9, 1.1))


async def _asks(browser: aiohttp.ClientSession, url: str, times: list[float], waits: Waits, etag: str = "") -> str:
    began = time.perf_counter()
    async with browser.get(url, headers={"if-none-match": etag} if etag else {}) as answer:
        await answer.read()
        times.append(time.perf_counter() - began)
        waits.others += answer.status not in {200, 304}
        return answer.headers.get("etag", "")


async def _beside(system: SandboxSystem, people: list[int], process: Process, work: Awaitable[object]) -> BotLoad:
    """Let users chat with the bot in turn while `work` runs. Return the load on the bot."""
    watched = psutil.Process(process.pid)
    before, began, answers = watched.cpu_times(), time.perf_counter(), list[float]()
    working = asyncio.ensure_future(work)
    turn = cycle(people)
    while not working.done():
        user = next(turn)
        text = time.perf_counter()
        await system.says(user, "/help")
        event = await system.chat_events.first(user, like("support.help.text"), text)
        answers.append(event.at - text)
        await asyncio.sleep(BETWEEN_CHATS)
    await working
    after = watched.cpu_times()
    used = after.user + after.system - before.user - before.system
    return BotLoad(Spread.from_times(answers), used / (time.perf_counter() - began))


@asynccontextmanager
async def _bare() -> AsyncIterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with running(BARE, str(port), log=Path("/dev/null")):
        await _listens(port)
        yield f"http://127.0.0.1:{port}"


async def _listens(port: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def _of_pages(count: int, one: Waits, many: Waits, bare: Waits) -> list[Row]:
    what = f"{count} people on {count} wallet pages, each every {EVERY:.0f} s: answer time, median / p99"
    states = Spread.from_times(many.states)
    return [
        _row(what, states, "one page alone", Spread.from_times(one.states)),
        _row(what, states, "bare Starlette, a fixed answer, the same people", Spread.from_times(bare.states)),
        _row(
            f"the same: the page itself, {count} loaded within {SECONDS * COME_WITHIN:.0f} s",
            Spread.from_times(many.pages),
            "bare Starlette",
            Spread.from_times(bare.pages),
        ),
    ]


def _of_the_bot(alone: BotLoad, load: BotLoad) -> list[Row]:
    nobody = "with no one at the pages"
    return [
        _row("the same: the bot's answer to /help during that, median / p99", load.answers, nobody, alone.answers),
        Row(
            part="g",
            measured="the same: the bot's share of one core",
            ours=f"{load.share:.0%}",
            versus=nobody,
            theirs=f"{alone.share:.0%}",
            ratio=times_as_much(load.share, alone.share),
        ),
    ]


def _row(what: str, ours: Spread, versus: str, theirs: Spread) -> Row:
    return Row(part="g", measured=what, ours=str(ours), versus=versus, theirs=str(theirs), ratio=ours.over(theirs))
