"""Bringing trouble about at a chosen moment: a call is held in the air, the bot is killed while it hangs there."""

import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from bot.sandbox.bot_api.settings import default_people
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.system import System
from tests.texts import label, like, says
from tests.waiting import TIMEOUT_SECONDS, found, until

HOLD_SECONDS = 300.0
"""Seconds: longer than any test. What is held for so long never gets there."""

ORDERS = "/v1/offramp/orders"
INVOICE = re.compile(r"lnbcrt\w+")


@dataclass(frozen=True, slots=True)
class Calls:
    """The bot's calls of one method of the Bot API."""

    system: System
    method: str

    async def count(self, chat_id: int | None = None) -> int:
        """How many were carried out or refused, perhaps in one chat alone."""
        calls = await self.system.calls(self.method)
        return sum(chat_id in {None, call["chat_id"]} for call in calls)

    async def are_more_than(self, known: int, chat_id: int | None = None) -> bool:
        """Whether there have been more since."""
        return await self.count(chat_id) > known


def calls_of(system: System, method: str) -> Calls:
    """The calls of `method`."""
    return Calls(system, method)


@asynccontextmanager
async def hold_call(calls: Calls, user: ChatUser | None = None, fault: str = "delay") -> AsyncIterator[None]:
    """Hold the next of these calls (to this person's chat); the block causes it, and at its end the call hangs.

    `delay` holds the call itself, so that nothing of it has happened; `delay_after` only its answer.
    """
    where = {} if user is None else {"chat_id": user.chat_id}
    known = await calls.count(**where)
    await calls.system.telegram_fails(fault, calls.method, seconds=HOLD_SECONDS, times=1, **where)
    yield
    await until(lambda: _is_taken(calls.system), what=f"{calls.method} in the air")
    if fault == "delay_after":
        await until(lambda: calls.are_more_than(known, **where), what=calls.method)


@asynccontextmanager
async def hold_service(system: System, fault: str = "delay", **where: Any) -> AsyncIterator[None]:
    """Hold the next request to the service: a POST of an order, where nothing else is said."""
    wanted: dict[str, Any] = {"method": "POST", "path": ORDERS, "seconds": HOLD_SECONDS} | where
    await system.service.fails_with(fault, times=1, **wanted)
    yield
    await until(lambda: _is_used(system))


async def kill_and_restart(system: System, **settings: str) -> None:
    """Kill -9, good weather, and a new start."""
    await system.kill_bot()
    await clear_faults(system)
    await system.start_bot(**settings)


async def clear_faults(system: System) -> None:
    """No faults at all."""
    await system.telegram_heals()
    await system.service.heals()


async def wait_until_idle(system: System) -> None:
    """Wait until the bot has handled all that it was sent, and has sent all that follows from it."""
    token, handled = system.environment["TELEGRAM_BOT_TOKEN"], "SELECT count(*) FROM inbox WHERE finished_at IS NULL"
    told = "SELECT count(*) FROM outbox WHERE status IN ('waiting', 'sending')"

    async def left() -> int:
        about = (await system.telegram.get(f"/bot{token}/getWebhookInfo")).raise_for_status().json()
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            ours = [int(database.execute(count).fetchone()[0]) for count in (handled, told)]
        return sum(ours) + int(about["result"]["pending_update_count"])

    await found(left, lambda count: count == 0, what="rest")


def assert_copies_are_marked(copies: Sequence[str], *, kills: int) -> None:
    """Assert what holds wherever a kill falls: the message arrives, and each copy after the first says that it is one.

    The first copy may say so as well: a kill before it is sent leaves the bot in doubt.
    """
    marked = [says(copy, "news.again") for copy in copies]
    assert 1 <= len(copies) <= 1 + kills, copies
    assert all(marked[1:]), copies


async def confirm_found_order(sender: ChatUser) -> None:
    """Answer the question about an order whose answer was lost.

    The documented service's list shows only the end of the recipient's number, so the bot can't know it for certain.
    """
    question = await sender.sees(like("news.recipient_masked"), anywhere=True)
    await sender.taps(label("button.found_is_mine"), message=question)


async def count_posts(system: System) -> int:
    """How many orders the bot has asked the service for, answered or not."""
    asked: Counter[str] = Counter((await system.service.requests())["routes"])
    return asked[f"POST {ORDERS}"]


async def invoices_in(user: ChatUser) -> set[str]:
    """The different invoices that stand in a chat."""
    return {found for message in await user.messages() for found in INVOICE.findall(text_of(message))}


async def _is_taken(system: System) -> bool:
    switches = (await system.telegram.get("/sandbox/faults")).json()["faults"]
    return all(switch["times"] == 0 for switch in switches)


async def _is_used(system: System) -> bool:
    switches = (await system.control.get("/control/faults")).json()["faults"]
    return all(switch["used"] for switch in switches)


STAFF = [user for user in default_people() if user.role != "sender"]
CALM: Json = {
    "speedSeconds": None,
    "invoiceExpirySeconds": 3600,
    "lockedPricePercent": 0,
    "wrongInvoice": None,
    "wrongDeposit": None,
    "dailyCapIdr": None,
}
KEPT_BY_THE_BOT: Json = {
    "profile": "documented",
    "configured": True,
    "quoteCacheSeconds": None,
    "methodsCacheSeconds": None,
}
"""What the bot remembers the answers of for up to a minute, so that a story after the one that changed it meets it."""


async def restore_defaults(system: System) -> None:
    """The service and Telegram as on a good day; staff with their languages.

    Raises:
        AssertionError: the story changed what the bot keeps for a while: it needs a world of its own.
    """
    await system.service.heals()
    await system.telegram_heals()
    await system.service.does("settings", **CALM)
    assert await _not_as_usual(system) == {}, "a story that changes this needs a world of its own"
    for user in STAFF:
        await ChatUser(system.telegram, user.id).speaks(user.language_code)


async def _not_as_usual(system: System) -> Json:
    """What the bot remembers of the service and a story has changed; it is as usual again afterwards."""
    settings: Json = (await system.control.get("/control/settings")).raise_for_status().json()
    changed = {name: settings[name] for name, usual in KEPT_BY_THE_BOT.items() if settings[name] != usual}
    await system.service.does("settings", **KEPT_BY_THE_BOT)
    listed = await system.service.methods()
    await system.service.lists_all_methods()
    return changed if listed == await system.service.methods() else {**changed, "methods": len(listed)}
