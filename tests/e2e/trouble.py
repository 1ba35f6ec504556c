"""Bringing trouble about at a chosen moment: a call is held in the air, the bot is killed while it hangs there."""

import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from tests.e2e.world import Chatter, World, words_of
from tests.texts import label, like, says
from tests.waiting import TIMEOUT_SECONDS, found, until

FOR_LONG = 300.0
"""Seconds: longer than any test. What is held for so long never gets there."""

ORDERS = "/v1/offramp/orders"
INVOICE = re.compile(r"lnbcrt\w+")


@dataclass(frozen=True, slots=True)
class Calls:
    """The bot's calls of one method of the Bot API."""

    world: World
    method: str

    async def count(self, chat_id: int | None = None) -> int:
        """How many were carried out or refused, perhaps in one chat alone."""
        calls = await self.world.calls(self.method)
        return sum(chat_id in {None, call["chat_id"]} for call in calls)

    async def are_more_than(self, known: int, chat_id: int | None = None) -> bool:
        """Whether there have been more since."""
        return await self.count(chat_id) > known


def calls_of(world: World, method: str) -> Calls:
    """The calls of `method`."""
    return Calls(world, method)


@asynccontextmanager
async def held(calls: Calls, user: Chatter | None = None, fault: str = "delay") -> AsyncIterator[None]:
    """Hold the next of these calls (to this person's chat); the block causes it, and at its end the call hangs.

    `delay` holds the call itself, so that nothing of it has happened; `delay_after` only its answer.
    """
    where = {} if user is None else {"chat_id": user.chat_id}
    known = await calls.count(**where)
    await calls.world.telegram_fails(fault, calls.method, seconds=FOR_LONG, times=1, **where)
    yield
    await until(lambda: _is_taken(calls.world), what=f"{calls.method} in the air")
    if fault == "delay_after":
        await until(lambda: calls.are_more_than(known, **where), what=calls.method)


@asynccontextmanager
async def service_held(world: World, fault: str = "delay", **where: Any) -> AsyncIterator[None]:
    """Hold the next request to the service: a POST of an order, where nothing else is said."""
    wanted: dict[str, Any] = {"method": "POST", "path": ORDERS, "seconds": FOR_LONG} | where
    await world.service.fails_with(fault, times=1, **wanted)
    yield
    await until(lambda: _is_used(world))


async def killed_and_restarted(world: World, **settings: str) -> None:
    """Kill -9, good weather, and a new start."""
    await world.kill_bot()
    await good_weather(world)
    await world.start_bot(**settings)


async def good_weather(world: World) -> None:
    """No faults at all."""
    await world.telegram_heals()
    await world.service.heals()


async def is_at_rest(world: World) -> None:
    """Wait until the bot has handled all that it was sent, and has sent all that follows from it."""
    token, handled = world.environment["TELEGRAM_BOT_TOKEN"], "SELECT count(*) FROM inbox WHERE finished_at IS NULL"
    told = "SELECT count(*) FROM outbox WHERE status IN ('waiting', 'sending')"

    async def left() -> int:
        about = (await world.telegram.get(f"/bot{token}/getWebhookInfo")).raise_for_status().json()
        with closing(sqlite3.connect(world.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            ours = [int(database.execute(count).fetchone()[0]) for count in (handled, told)]
        return sum(ours) + int(about["result"]["pending_update_count"])

    await found(left, lambda count: count == 0, what="rest")


def assert_repeats_say_so(copies: Sequence[str], *, kills: int) -> None:
    """Assert what holds wherever a kill falls: the message arrives, and each copy after the first says that it is one.

    The first copy may say so as well: a kill before it is sent leaves the bot in doubt.
    """
    marked = [says(copy, "news.again") for copy in copies]
    assert 1 <= len(copies) <= 1 + kills, copies
    assert all(marked[1:]), copies


async def says_that_the_found_order_is_theirs(sender: Chatter) -> None:
    """Answer the question about an order whose answer was lost.

    The documented service's list shows only the end of the recipient's number, so the bot can't know it for certain.
    """
    question = await sender.sees(like("news.recipient_masked"), anywhere=True)
    await sender.taps(label("button.found_is_mine"), message=question)


async def posts(world: World) -> int:
    """How many orders the bot has asked the service for, answered or not."""
    asked: Counter[str] = Counter((await world.service.requests())["routes"])
    return asked[f"POST {ORDERS}"]


async def invoices_in(user: Chatter) -> set[str]:
    """The different invoices that stand in a chat."""
    return {found for message in await user.messages() for found in INVOICE.findall(words_of(message))}


async def _is_taken(world: World) -> bool:
    switches = (await world.telegram.get("/sandbox/faults")).json()["faults"]
    return all(switch["times"] == 0 for switch in switches)


async def _is_used(world: World) -> bool:
    switches = (await world.control.get("/control/faults")).json()["faults"]
    return all(switch["used"] for switch in switches)
