"""Six walks through the bot: how many files and functions a reader meets who follows one.

Counts, not times: the bot runs with a tracer, beside the sandbox. What runs anyway, in an idle time of the same length,
is subtracted. Functions are those of the bot alone, without the sandbox and libraries.
"""

import asyncio
import json
import os
import re
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.benchmarks import traced_bot
from tests.benchmarks.older_version import BEFORE, ROOT, older_version
from tests.benchmarks.processes import Process
from tests.benchmarks.report import Row, times_as_much
from tests.benchmarks.sandbox_system import SandboxSystem, open_system
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.texts import label, like, text
from tests.waiting import TIMEOUT_SECONDS, until

OSCAR, RINA = 2001, 3001
READERS = 3
SETTLES_AFTER = 3.0
"""Seconds in which the bot finishes what a walk began: its transactions and its notifications."""

Function = tuple[str, int]
"""A file, and the first line of a function in it."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many files and functions a walk passes."""

    files: int
    functions: int


@dataclass(slots=True)
class TracedBot:
    """A running bot, and the file with what it has called."""

    system: SandboxSystem
    process: Process
    calls: Path

    async def take_calls(self) -> set[Function]:
        """Return the functions that were called since the last time."""
        self.calls.unlink(missing_ok=True)
        os.kill(self.process.pid, signal.SIGUSR1)

        async def is_written() -> bool:
            return self.calls.exists()

        await until(is_written, what="the list of calls")
        return {(name, line) for name, line in json.loads(self.calls.read_text(encoding="utf-8"))}

    async def count(self, walk: Callable[[], Awaitable[object]]) -> Counted:
        """Count what a walk passes."""
        await asyncio.sleep(SETTLES_AFTER)
        await self.take_calls()
        began = time.perf_counter()
        await walk()
        await asyncio.sleep(SETTLES_AFTER)
        passed, took = await self.take_calls(), time.perf_counter() - began
        await asyncio.sleep(took)
        passed -= await self.take_calls()
        return Counted(len({name for name, _ in passed}), len(passed))


async def run(*, quick: bool, before: str = BEFORE) -> list[Row]:  # noqa: ARG001  it always takes half a minute
    """Count the walks, with the commit `before` beside this one. Return the rows."""
    now = await _count_all(ROOT)
    with older_version(before) as folder:
        then = await _count_all(folder) if folder else {}
    return [
        Row(
            part="w",
            measured=f"{walk}: files / functions",
            ours=f"{counted.files} / {counted.functions}",
            versus=f"commit {before}" if then else f"commit {before}, which this clone doesn't have",
            theirs=f"{then[walk].files} / {then[walk].functions}" if then else "",
            ratio=times_as_much(counted.functions, then[walk].functions) if then else "",
        )
        for walk, counted in now.items()
    ]


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[TracedBot]:
    async with open_system() as system:
        calls = system.folder / "calls.json"
        settings = {"PYTHONPATH": str(folder), traced_bot.FILE: str(calls), "POLL_INTERVAL_SECONDS": "1"}
        async with system.program(traced_bot.__file__, "run", **settings) as process:
            yield TracedBot(system, process, calls)


async def _count_all(folder: Path) -> dict[str, Counted]:
    async with _running(folder) as bot:
        system = bot.system
        users = [ChatUser(system.telegram, await system.user(number)) for number in range(READERS)]
        emma, oscar = users[0], ChatUser(system.telegram, OSCAR)
        await _type_to_amount(emma)
        counted = {"a typed amount, until the review": await bot.count(lambda: _type_amount(emma))}
        counted["Confirm, until the invoice"] = await bot.count(lambda: _confirm(emma))
        (order,) = await system.service.orders()
        await system.service.pays(order)
        await emma.sees(like("orders.notification.paid"))
        counted["the service sends, until the message"] = await bot.count(lambda: _complete(system, order, emma))
        ticket = await _open_ticket(system, users[1])
        counted["a reply of support, until it arrives"] = await bot.count(lambda: _reply(system, ticket, users[1]))
        await users[2].says("/start")
        await users[2].sees("👋")  # the welcome of any version
        _subscribe(system, users)
        await _write_broadcast(oscar)
        counted[f"a broadcast to {READERS}"] = await bot.count(lambda: _send_broadcast(oscar))
        counted["/stats"] = await bot.count(lambda: _ask_statistics(oscar))
        return counted


async def _type_to_amount(user: ChatUser) -> None:
    for typed, seen in (("/send", "destination.ask"), ("bca", "number.ask_bank"), ("1234567890", "holder.ask")):
        await user.says(typed)
        await user.sees(like(f"checkout.{seen}"))
    await user.taps(label("checkout.holder.skip"))
    await user.sees(like("checkout.amount.ask"))


async def _type_amount(user: ChatUser) -> None:
    await user.says("500rb")
    await user.sees(like("checkout.review.title"))


async def _confirm(user: ChatUser) -> None:
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.status_message.waiting"))


async def _complete(system: SandboxSystem, order: Json, user: ChatUser) -> None:
    await system.service.does("advance", orderIds=[order["id"]], state="COMPLETED")
    await user.sees("✅ Rp500,000 → BCA", anywhere=True)  # the receipt of any version


async def _open_ticket(system: SandboxSystem, user: ChatUser) -> Json:
    """Let an order fail after its payment. Return the ticket's first message in the support group."""
    known = {order["id"] for order in await system.service.orders()}
    await _type_to_amount(user)
    await _type_amount(user)
    await _confirm(user)
    (order,) = [order for order in await system.service.orders() if order["id"] not in known]
    await system.service.pays(order)
    await system.service.does("fail", orderId=order["id"])
    rina = ChatUser(system.telegram, RINA, SUPPORT_GROUP_ID)

    def is_ticket(message: Json) -> bool:
        return bool(message["from"]["is_bot"]) and str(user.id) in text_of(message)

    return await rina.waits_for(is_ticket, anywhere=True, what="the ticket")


async def _reply(system: SandboxSystem, ticket: Json, user: ChatUser) -> None:
    await ChatUser(system.telegram, RINA, SUPPORT_GROUP_ID).says("We are looking into it.", reply_to=ticket)
    await user.sees("We are looking into it", anywhere=True)


def _subscribe(system: SandboxSystem, users: Sequence[ChatUser]) -> None:
    """Let users read broadcasts. The way there isn't counted."""
    with closing(sqlite3.connect(system.folder / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        database.executemany(
            "INSERT INTO subscriptions (user_id, subscribed_at) VALUES (?, '2026-01-01 00:00:00.000000')",
            [(user.id,) for user in users],
        )
        database.commit()


async def _write_broadcast(oscar: ChatUser) -> None:
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcasts.compose"))
    await oscar.taps(label("broadcasts.preview"))
    await oscar.sees(like("broadcasts.confirm"))


async def _send_broadcast(oscar: ChatUser) -> None:
    await oscar.taps(text("broadcasts.send", count=READERS))
    await oscar.sees(like("broadcasts.going"))


async def _ask_statistics(oscar: ChatUser) -> None:
    await oscar.says("/stats")
    await oscar.sees(like("operations.statistics.orders", count=re.compile(r"[\d,.]+")), anywhere=True)
