"""(r) Several replicas on one PostgreSQL: answers a second, and when a dead replica's chats go on.

All of it runs on this machine: PostgreSQL, the sandbox, the users and the replicas share its cores. With two cores,
three replicas can't answer three times as much as one. That needs machines of their own.
"""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import asyncpg  # type: ignore[import-untyped]  # it has no types

from bot.infra.leases.repository import LEASE_SECONDS
from bot.sandbox.postgresql import NoServer
from tests.benchmarks.processes import Process, processor_seconds
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system
from tests.benchmarks.whole_bot import QUICK_CHATS, WAY, act, all_walk
from tests.harness import databases, postgresql

REPLICAS = 3
PEOPLE, FEW_PEOPLE = 150, 9
ROUNDS = 2
KILLS = 6
CHATS = 24
IDLE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Replica:
    """A process, and the random id by which it owns leases."""

    process: Process
    owner: str


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    try:
        server = await asyncio.to_thread(postgresql.find)
    except NoServer as error:
        return [Row(part="r", measured="replicas on PostgreSQL", ours=f"not measured: PostgreSQL is {error}")]
    try:
        return [
            *await _measure_answers(server.url, quick=quick),
            *await _measure_takeover(server.url, quick=quick),
        ]
    finally:
        await asyncio.to_thread(server.stop)


async def _measure_answers(server: str, *, quick: bool) -> list[Row]:
    measured: dict[int, list[tuple[float, float]]] = {1: [], REPLICAS: []}
    for _ in range(1 if quick else ROUNDS):  # in turn, so that other load on the machine affects both
        for count, found in measured.items():
            found.append(await _answers_a_second(server, count, FEW_PEOPLE if quick else PEOPLE))
    one, several = (statistics.median(rate for rate, _ in found) for found in measured.values())
    one_ms, several_ms = (statistics.median(cost for _, cost in found) for found in measured.values())
    return [
        Row(
            part="r",
            measured=f"answers a second on PostgreSQL, {REPLICAS} replicas on the cores of one machine",
            ours=f"{several:.0f}/s",
            versus="one replica",
            theirs=f"{one:.0f}/s",
            ratio=times_as_much(several, one),
        ),
        Row(
            part="r",
            measured=f"processor time of one update, {REPLICAS} replicas together",
            ours=f"{several_ms:.1f} ms",
            versus="one replica",
            theirs=f"{one_ms:.1f} ms",
            ratio=times_as_much(several_ms, one_ms),
        ),
    ]


async def _answers_a_second(server: str, count: int, people: int) -> tuple[float, float]:
    async with _replicas(server, count) as (system, replicas, _):
        users = [await system.user(number) for number in range(people + 3)]
        await all_walk(system, users[people:], WAY)  # fills the caches
        used, began = sum(processor_seconds(each.process) for each in replicas), time.perf_counter()
        answers = len(await all_walk(system, users[:people], WAY))
        took = time.perf_counter() - began
        used = sum(processor_seconds(each.process) for each in replicas) - used
    return answers / took, 1000 * used / answers


async def _measure_takeover(server: str, *, quick: bool) -> list[Row]:
    """Kill the replica with the most chats, again and again. Its users write at that moment."""
    waits: list[float] = []
    leads: list[float] = []
    async with _replicas(server, REPLICAS) as (system, replicas, database):
        idle = await _transactions_a_second(database, 3.0 if quick else IDLE_SECONDS) / REPLICAS
        async with AsyncExitStack() as restarted:
            for turn in range(1 if quick else KILLS):
                took, lead, killed = await _kill_one(system, replicas, database, turn)
                waits += took
                leads += [] if lead is None else [lead]
                replicas.remove(killed)
                replicas.append(await _start(system, restarted))
    promise = LEASE_SECONDS + 1
    spread = Spread.from_times(waits)
    rows = [
        Row(
            part="r",
            measured=f"a replica is killed: until its chats are answered by another one, median / p99 of {len(waits)}",
            ours=str(spread),
            versus="lease + 1 s (the promise)",
            theirs=seconds(promise),
            ratio=times_as_much(spread.p99, promise),
        ),
        Row(
            part="r",
            measured="transactions a second of one idle replica",
            ours=f"{idle:.1f}/s",
        ),
    ]
    if leads:
        found = Spread.from_times(leads)
        rows.append(
            Row(
                part="r",
                measured=f"the leader is killed: until another one leads, median / longest of {len(leads)}",
                ours=f"{seconds(found.median)} / {seconds(found.slowest)}",
                versus="lease + 1 s (the promise)",
                theirs=seconds(promise),
                ratio=times_as_much(found.slowest, promise),
            )
        )
    return rows


async def _kill_one(
    system: SandboxSystem, replicas: list[Replica], database: asyncpg.Connection, turn: int
) -> tuple[list[float], float | None, Replica]:
    """Kill the replica with the most chats. Return its users' waits, that for another leader if it led, and it."""
    users = [await system.user(1000 * (turn + 1) + number) for number in range(CHATS)]
    await all_walk(system, users, WAY[:1])
    owners = {row["chat_id"]: row["owner"] for row in await database.fetch("SELECT chat_id, owner FROM chat_leases")}
    held = {each.owner: [user for user in users if owners.get(user) == each.owner] for each in replicas}
    chosen = max(replicas, key=lambda each: len(held[each.owner]))
    led = await database.fetchval("SELECT owner FROM chat_leases WHERE chat_id = 0") == chosen.owner
    chosen.process.kill()
    began = time.perf_counter()
    following = asyncio.create_task(_wait_for_leader(database, chosen.owner)) if led else None
    waits = await asyncio.gather(*(_answer_time(system, user) for user in held[chosen.owner]))
    return list(waits), await following - began if following else None, chosen


async def _answer_time(system: SandboxSystem, user: int) -> float:
    began = time.perf_counter()
    await act(system, user, WAY[1], Json())
    return (await system.chat_events.first(user, WAY[1].sees, began)).at - began


async def _wait_for_leader(database: asyncpg.Connection, last: str) -> float:
    while await database.fetchval("SELECT owner FROM chat_leases WHERE chat_id = 0") == last:  # noqa: ASYNC110  a row
        await asyncio.sleep(0.02)
    return time.perf_counter()


async def _transactions_a_second(database: asyncpg.Connection, pause: float) -> float:
    count = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
    await asyncio.sleep(15)  # until the replicas have nothing to do, and the statistics have been written
    before = await database.fetchval(count)
    await asyncio.sleep(pause)
    return float(await database.fetchval(count) - before) / pause


@asynccontextmanager
async def _replicas(server: str, count: int) -> AsyncIterator[tuple[SandboxSystem, list[Replica], asyncpg.Connection]]:
    new = databases.new_database(server)
    url = await asyncio.to_thread(new.__enter__)
    try:
        async with open_system() as system, AsyncExitStack() as stack:
            system.environment |= {"DATABASE_URL": url} | QUICK_CHATS
            replicas = [await _start(system, stack) for _ in range(count)]
            database = await asyncpg.connect(url)
            try:
                yield system, replicas, database
            finally:
                await database.close()
    finally:
        await asyncio.to_thread(new.__exit__, None, None, None)


async def _start(system: SandboxSystem, stack: AsyncExitStack) -> Replica:
    known = set(_owners(system))
    process = await stack.enter_async_context(system.bot())
    (owner,) = set(_owners(system)) - known
    return Replica(process, owner)


def _owners(system: SandboxSystem) -> list[str]:
    """Return the ids of all processes that have started, from the log."""
    lines = system.log.read_text(encoding="utf-8").splitlines() if system.log.exists() else []
    started = [json.loads(line) for line in lines if '"event": "bot_started"' in line]
    return [line["process"] for line in started]
