"""(e) The time from the command to the first `getUpdates`, and the memory of an idle bot."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.processes import memory, running, until
from tests.benchmarks.report import Row, seconds, times_as_much
from tests.infra.keys import ENCRYPTION_KEYS

ROUNDS = 3
REST_SECONDS = 1.5
TIMEOUT_SECONDS = 60.0
NOBODY = "http://127.0.0.1:9"
"""An address without a service. A bot without orders never calls it."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start: the seconds to the first poll, and the megabytes some time later."""

    seconds: float
    megabytes: float


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh = [await _start(lambda url, n=n: _kirim(url, folder / f"{n}.db"), folder) for n in range(rounds)]  # type: ignore[misc]
        again = [await _start(lambda url: _kirim(url, folder / "0.db"), folder) for _ in range(rounds)]
        plain = [await _start(_skeleton, folder) for _ in range(rounds)]
    bare = "the bare skeleton on PTB"
    return [
        _row("start of `python -m bot run` to the first getUpdates, empty folder", fresh, bare, plain),
        _row("the same with a database that is up to date", again, bare, plain),
        _memory_row(again, bare, plain),
    ]


def _kirim(address: str, database: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    return ("bot", "run"), {
        "TELEGRAM_BOT_TOKEN": skeleton.TOKEN,
        "TELEGRAM_API_URL": address,
        "SERVICE_API_KEY": "pk_live_benchmark.secret",
        "SERVICE_BASE_URL": NOBODY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEYS,
        "DATABASE_URL": f"sqlite:///{database}",
    }


def _skeleton(address: str) -> tuple[tuple[str, ...], dict[str, str]]:
    return ("tests.benchmarks.plain_bot", address), {}


async def _start(bot: Callable[[str], tuple[tuple[str, ...], dict[str, str]]], folder: Path) -> Start:
    async with serving(Stub()) as stub:
        module, environment = bot(stub.address)
        began = time.perf_counter()
        async with running(*module, log=folder / "bot.log", environment=environment) as process:
            await until(stub.polled, process, folder / "bot.log", TIMEOUT_SECONDS)
            took = (stub.first_poll or 0) - began
            await asyncio.sleep(REST_SECONDS)
            return Start(took, memory(process))


def _row(what: str, ours: list[Start], versus: str, theirs: list[Start]) -> Row:
    mine, other = (statistics.median(start.seconds for start in starts) for starts in (ours, theirs))
    return Row(
        part="e",
        measured=what,
        ours=seconds(mine),
        versus=versus,
        theirs=seconds(other),
        ratio=times_as_much(mine, other),
    )


def _memory_row(ours: list[Start], versus: str, theirs: list[Start]) -> Row:
    mine, other = (statistics.median(start.megabytes for start in starts) for starts in (ours, theirs))
    return Row(
        part="e",
        measured="memory at rest (RSS)",
        ours=f"{mine:.0f} MB",
        versus=versus,
        theirs=f"{other:.0f} MB",
        ratio=times_as_much(mine, other),
    )
