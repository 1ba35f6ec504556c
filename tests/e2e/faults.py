"""Cause faults at a chosen moment: hold a call, and kill the bot while it waits."""

import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from bot.sandbox.bot_api.model import default_people
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.system import System
from tests.texts import label, like, says
from tests.waiting import TIMEOUT_SECONDS, found, until

HOLD_SECONDS = 300.0
"""Seconds, longer than any test. A call that is held for so long never arrives."""

ORDERS = "/v1/offramp/orders"
INVOICE = re.compile(r"lnbcrt\w+")


@dataclass(frozen=True, slots=True)
class Calls:
    """The bot's calls of one method of the Bot API."""

    system: System
    method: str

    async def count(self, chat_id: int | None = None) -> int:
        """Return how many calls were carried out or rejected, in all chats or in one."""
        calls = await self.system.calls(self.method)
        return sum(chat_id in {None, call["chat_id"]} for call in calls)

    async def are_more_than(self, known: int, chat_id: int | None = None) -> bool:
        """Return whether there were more than `known` calls."""
        return await self.count(chat_id) > known


def calls_of(system: System, method: str) -> Calls:
    """Return the bot's calls of a method of the Bot API."""
    return Calls(system, method)


@asynccontextmanager
async def hold_call(calls: Calls, user: ChatUser | None = None, fault: str = "delay") -> AsyncIterator[None]:
    """Hold the next of these calls (to this user's chat). The block causes it, and at its end the call hangs.

    `delay` holds the call itself, so it has no effect yet. `delay_after` holds only its answer.
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
    """Hold the next request to the service. The default is the POST of an order."""
    wanted: dict[str, Any] = {"method": "POST", "path": ORDERS, "seconds": HOLD_SECONDS} | where
    await system.service.fails_with(fault, times=1, **wanted)
    yield
    await until(lambda: _is_used(system))


async def kill_and_restart(system: System, **settings: str) -> None:
    """Kill the bot (SIGKILL), clear all faults, and start it again."""
    await system.kill_bot()
    await clear_faults(system)
    await system.start_bot(**settings)


async def clear_faults(system: System) -> None:
    """Switch all faults off."""
    await system.telegram_heals()
    await system.service.heals()


async def wait_until_idle(system: System) -> None:
    """Wait until the bot has handled all updates, and has sent all notifications."""
    token, handled = system.environment["TELEGRAM_BOT_TOKEN"], "SELECT count(*) FROM inbox WHERE finished_at IS NULL"
    told = "SELECT count(*) FROM outbox WHERE status IN ('waiting', 'sending')"

    async def left() -> int:
        about = (await system.telegram.get(f"/bot{token}/getWebhookInfo")).raise_for_status().json()
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            ours = [int(database.execute(count).fetchone()[0]) for count in (handled, told)]
        return sum(ours) + int(about["result"]["pending_update_count"])

    await found(left, lambda count: count == 0, what="rest")


def assert_copies_are_marked(copies: Sequence[str], *, kills: int) -> None:
    """Assert that the message arrived, and that each further copy says that it is a repetition.

    The first copy can say so as well: after a kill the bot doesn't know whether it was sent.
    """
    marked = [says(copy, "infra.outbox.again") for copy in copies]
    assert 1 <= len(copies) <= 1 + kills, copies
    assert all(marked[1:]), copies


async def confirm_found_order(sender: ChatUser) -> None:
    """Confirm that a found order is the user's own, after its answer was lost.

    The documented service lists only the end of the recipient's number, so the bot has to ask.
    """
    question = await sender.sees(like("orders.notification.recipient_masked"), anywhere=True)
    await sender.taps(label("orders.button.found_is_mine"), message=question)


async def count_posts(system: System) -> int:
    """Return how many orders the bot has posted to the service, answered or not."""
    asked: Counter[str] = Counter((await system.service.requests())["routes"])
    return asked[f"POST {ORDERS}"]


async def invoices_in(user: ChatUser) -> set[str]:
    """Return the different invoices in a chat."""
    return {found for message in await user.messages() for found in INVOICE.findall(text_of(message))}


async def _is_taken(system: System) -> bool:
    switches = (await system.telegram.get("/sandbox/faults")).json()["faults"]
    return all(switch["times"] == 0 for switch in switches)


async def _is_used(system: System) -> bool:
    switches = (await system.control.get("/control/faults")).json()["faults"]
    return all(switch["used"] for switch in switches)


STAFF = [user for user in default_people() if user.role != "sender"]
DEFAULT_SETTINGS: Json = {
    "speedSeconds": None,
    "invoiceExpirySeconds": 3600,
    "lockedPricePercent": 0,
    "wrongInvoice": None,
    "wrongDeposit": None,
    "dailyCapIdr": None,
}
CACHED_BY_THE_BOT: Json = {
    "profile": "documented",
    "configured": True,
    "quoteCacheSeconds": None,
    "methodsCacheSeconds": None,
}
"""What the bot remembers the answers of for up to a minute, so that a story after the one that changed it meets it."""


async def restore_defaults(system: System) -> None:
    """Restore the defaults of the service, of Telegram, and of the languages of staff.

    Raises:
        AssertionError: the test changed what the bot caches, so it needs its own system.
    """
    await system.service.heals()
    await system.telegram_heals()
    await system.service.does("settings", **DEFAULT_SETTINGS)
    assert await _changed_settings(system) == {}, "a story that changes this needs a world of its own"
    for user in STAFF:
        await ChatUser(system.telegram, user.id).speaks(user.language_code)


async def _changed_settings(system: System) -> Json:
    """Return the cached settings of the service that the test changed, and restore them."""
    settings: Json = (await system.control.get("/control/settings")).raise_for_status().json()
    changed = {name: settings[name] for name, usual in CACHED_BY_THE_BOT.items() if settings[name] != usual}
    await system.service.does("settings", **CACHED_BY_THE_BOT)
    listed = await system.service.methods()
    await system.service.lists_all_methods()
    return changed if listed == await system.service.methods() else {**changed, "methods": len(listed)}
