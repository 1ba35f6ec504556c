"""(c) Updates a second from a local Bot API server, one answer each: with our layers, and the same skeleton without."""

import statistics
import tempfile
import time
from pathlib import Path

from tests.benchmarks import skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.processes import running, until
from tests.benchmarks.report import Row, times_as_much

CHATS = 500
UPDATES, FEW_UPDATES, OVER_A_NETWORK = 3000, 300, 600
NETWORK_SECONDS = 0.03
ROUNDS = 3
PATIENCE = 120.0
NAMES = {"plain": "plain sequential (PTB's default)", "concurrent": "plain concurrent (concurrent_updates(256))"}


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    near, far = (FEW_UPDATES, FEW_UPDATES // 3) if quick else (UPDATES, OVER_A_NETWORK)
    rounds = 1 if quick else ROUNDS
    here = f"updates a second, {CHATS} chats, server on this machine, one answer each"
    there = f"the same, each call {NETWORK_SECONDS * 1000:.0f} ms away, as over a network"
    return [*await _compare(here, near, 0.0, rounds), *await _compare(there, far, NETWORK_SECONDS, rounds=1)]


async def _compare(what: str, count: int, answer_seconds: float, rounds: int) -> list[Row]:
    rates: dict[str, list[float]] = {kind: [] for kind in ("layers", *NAMES)}
    for _ in range(rounds):  # in turn, so that a busy moment of the machine meets all of them
        for kind, found in rates.items():
            found.append(await updates_a_second(kind, count, answer_seconds))
    medians = {kind: statistics.median(found) for kind, found in rates.items()}
    ours = medians.pop("layers")
    return [
        Row(
            part="c",
            measured=what,
            ours=f"{ours:,.0f}/s",
            versus=NAMES[kind],
            theirs=f"{theirs:,.0f}/s",
            ratio=times_as_much(ours, theirs),
        )
        for kind, theirs in medians.items()
    ]


async def updates_a_second(kind: str, count: int, answer_seconds: float) -> float:
    """Let a bot work off so many updates; how many it did a second."""
    updates = [skeleton.update(number, 1000 + number % CHATS, "/send") for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        log, database = Path(folder) / "bot.log", f"sqlite:///{folder}/bot.db"
        async with serving(Stub(updates=updates, answer_seconds=answer_seconds)) as stub:
            bot = ("tests.benchmarks.skeleton_bot", kind, stub.address, database)
            async with running(*bot, log=log) as process:
                await until(stub.polled, process, log, PATIENCE)
                began = time.perf_counter()
                await until(stub.done, process, log, PATIENCE)
                return count / (stub.answers[-1] - began)
