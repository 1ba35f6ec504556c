"""(c) Updates a second from a local Bot API server, one answer each: with our layers, and the same skeleton without."""

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.processes import running, until
from tests.benchmarks.report import Row, times_as_much

CHATS = 500
ROUNDS = 3
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Way:
    """A bot: its name in the table, its module and its arguments."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()


OURS = Way("Kirim's layers", "tests.benchmarks.layered_bot")
SEQUENTIAL = Way("plain sequential (PTB's default)", "tests.benchmarks.plain_bot")
CONCURRENT = Way("plain concurrent (concurrent_updates(256))", "tests.benchmarks.plain_bot", ("256",))


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of the server, and the number of updates that is enough to measure a rate."""

    what: str
    seconds: float
    updates: dict[Way, int]
    rounds: int


HERE = Distance(
    f"updates a second, {CHATS} chats, server on this machine, one answer each",
    0.0,
    {OURS: 4000, SEQUENTIAL: 2000, CONCURRENT: 300},
    ROUNDS,
)
AWAY = Distance(
    "the same, each call 30 ms away, as over a network", 0.03, {OURS: 4000, SEQUENTIAL: 200, CONCURRENT: 600}, 1
)


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    return [*await _compare(HERE, quick=quick), *await _compare(AWAY, quick=quick)]


async def _compare(distance: Distance, *, quick: bool) -> list[Row]:
    rates: dict[Way, list[float]] = {way: [] for way in distance.updates}
    for _ in range(1 if quick else distance.rounds):  # in turn, so that other load on the machine affects all of them
        for way, count in distance.updates.items():
            rates[way].append(await updates_a_second(way, count // 10 if quick else count, distance.seconds))
    medians = {way: statistics.median(found) for way, found in rates.items()}
    ours = medians.pop(OURS)
    return [
        Row(
            part="c",
            measured=distance.what,
            ours=f"{ours:,.0f}/s",
            versus=way.name,
            theirs=f"{theirs:,.0f}/s",
            ratio=times_as_much(ours, theirs),
        )
        for way, theirs in medians.items()
    ]


async def updates_a_second(way: Way, count: int, answer_seconds: float) -> float:
    """Let a bot handle `count` updates. Return how many it handled a second."""
    updates = [skeleton.update(number, 1000 + number % CHATS, "/send") for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "bot.log"
        async with serving(Stub(updates=updates, answer_seconds=answer_seconds)) as stub:
            database = (f"sqlite:///{folder}/bot.db",) if way.module == OURS.module else ()
            arguments = (*database, *way.arguments)
            async with running(way.module, stub.address, *arguments, log=log) as process:
                await until(stub.polled, process, log, TIMEOUT_SECONDS)
                began = time.perf_counter()
                await until(stub.done, process, log, TIMEOUT_SECONDS)
                return count / (stub.answers[-1] - began)
