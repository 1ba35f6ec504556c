"""(g) 500 people on 500 wallet pages of a running bot: what they wait, and what somebody in the chat notices.

The viewers do what the page does: load it with its QR code, then ask for the state every two seconds with its ETag,
each over a connection of their own. They share this process with the sandbox, so part of what is measured is theirs;
the same viewers are therefore sent to bare Starlette, too. How the bot itself bears them is told by its answers in a
chat and by its share of a core, with the viewers and without.
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
from tests.benchmarks import crowd
from tests.benchmarks.processes import Process, running
from tests.benchmarks.report import Row, Spread, times_as_much
from tests.benchmarks.stage import Stage, stage
from tests.infra.keys import VAULT
from tests.texts import like

VIEWERS, FEW_VIEWERS = 500, 20
SECONDS, FEW_SECONDS = 30.0, 6.0
COME_WITHIN = 1 / 3
"""The share of that time within which everybody has come."""

EVERY = 2.0
CHATS, BETWEEN_CHATS = 12, 0.2
"""So many take turns that Telegram's pace of one message a second in a chat holds nobody up."""

TIMEOUT_SECONDS = 20.0
BARE = "tests.benchmarks.bare_pages"


@dataclass(slots=True)
class Waits:
    """How long viewers waited, in seconds; `others` counts answers that were none."""

    pages: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    states: list[float] = field(default_factory=list)
    others: int = 0


@dataclass(frozen=True, slots=True)
class Borne:
    """What the bot did meanwhile: its answers in a chat, and its share of one core."""

    answers: Spread
    share: float


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    count, lasting = (FEW_VIEWERS, FEW_SECONDS) if quick else (VIEWERS, SECONDS)
    async with stage() as hall:
        address = _serves_pages(hall)
        tokens = await _orders(hall, count)
        async with hall.bot() as process:
            people = [await hall.user(number) for number in range(CHATS)]
            alone = await _beside(hall, people, process, asyncio.sleep(lasting))
            one, many = Waits(), Waits()
            await _look(address, tokens[:1], lasting / 2, one)
            borne = await _beside(hall, people, process, _look(address, tokens, lasting, many))
    bare = Waits()
    async with _bare() as plain:
        await _look(plain, tokens, lasting, bare)
    if many.others or bare.others:
        raise RuntimeError(f"{many.others} answers of the bot and {bare.others} others were refusals")
    return [*_of_pages(count, one, many, bare), *_of_the_bot(alone, borne)]


def _serves_pages(hall: Stage) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    hall.environment.update({"PUBLIC_URL": address, "HTTP_PORT": str(port)})
    return address


async def _orders(hall: Stage, count: int) -> list[str]:
    """Orders that wait for their payment, with a page each; the pages' tokens. Nothing else is to be done for them."""
    store = Database(hall.database, VAULT)
    tokens = [new_page_token() for _ in range(count)]
    await store.upgrade()
    async with store.transaction() as tx:
        for number, token in enumerate(tokens):
            order = crowd.an_order(f"page{number:08}", crowd.ELSEWHERE + number, paid=False, within=0)
            await OrderRepository(tx).add(replace(order, page_token=token, next_poll_at=None))
    await store.close()
    return tokens


async def _look(address: str, tokens: list[str], lasting: float, waits: Waits) -> None:
    """Everybody comes some time at the beginning, and stays."""
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


async def _beside(hall: Stage, people: list[int], process: Process, work: Awaitable[object]) -> Borne:
    """People chat with the bot in turn for as long as `work` goes on."""
    watched = psutil.Process(process.pid)
    before, began, answers = watched.cpu_times(), time.perf_counter(), list[float]()
    working = asyncio.ensure_future(work)
    turn = cycle(people)
    while not working.done():
        user = next(turn)
        said = time.perf_counter()
        await hall.says(user, "/help")
        sight = await hall.sights.first(user, like("help.text"), said)
        answers.append(sight.at - said)
        await asyncio.sleep(BETWEEN_CHATS)
    await working
    after = watched.cpu_times()
    used = after.user + after.system - before.user - before.system
    return Borne(Spread.of(answers), used / (time.perf_counter() - began))


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
    states = Spread.of(many.states)
    return [
        _row(what, states, "one page alone", Spread.of(one.states)),
        _row(what, states, "bare Starlette, a fixed answer, the same people", Spread.of(bare.states)),
        _row(
            f"the same: the page itself, {count} loaded within {SECONDS * COME_WITHIN:.0f} s",
            Spread.of(many.pages),
            "bare Starlette",
            Spread.of(bare.pages),
        ),
    ]


def _of_the_bot(alone: Borne, borne: Borne) -> list[Row]:
    nobody = "with no one at the pages"
    return [
        _row("the same: the bot's answer to /help during that, median / p99", borne.answers, nobody, alone.answers),
        Row(
            part="g",
            measured="the same: the bot's share of one core",
            ours=f"{borne.share:.0%}",
            versus=nobody,
            theirs=f"{alone.share:.0%}",
            ratio=times_as_much(borne.share, alone.share),
        ),
    ]


def _row(what: str, ours: Spread, versus: str, theirs: Spread) -> Row:
    return Row(part="g", measured=what, ours=str(ours), versus=versus, theirs=str(theirs), ratio=ours.over(theirs))
