"""(e) The time from the command to the first `getUpdates`, and the memory of an idle bot, beside a bare one.

The same for the tools for AI agents: from the command to the answer to `initialize`.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.older_version import ROOT
from tests.benchmarks.processes import memory, processor_seconds, running, until
from tests.benchmarks.report import Row, seconds, times_as_much
from tests.infra.keys import ENCRYPTION_KEYS

ROUNDS = 7
REST_SECONDS = 1.5
TIMEOUT_SECONDS = 60.0
AGENT = {"SERVICE_API_KEY": "pk_live_benchmark.secret", "INVOICE_NETWORK": "bcrt"}
INITIALIZE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}}\n'
)
NOBODY = "http://127.0.0.1:9"
"""An address without a service. A bot without orders never calls it."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds to the first poll, seconds of the processor until then, and megabytes some time later."""

    seconds: float
    processor: float
    megabytes: float


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh = [await _start(lambda url, n=n: _kirim(url, folder / f"{n}.db"), folder) for n in range(rounds)]  # type: ignore[misc]
        again = [await _start(lambda url: _kirim(url, folder / "0.db"), folder) for _ in range(rounds)]
        plain = [await _start(_skeleton, folder) for _ in range(rounds)]
    tools = [await _start_tools() for _ in range(rounds)]
    bare = "the bare skeleton on PTB"
    return [
        _row("start of `python -m bot run` to the first getUpdates, empty folder", fresh, bare, plain),
        _row("the same with a database that is up to date", again, bare, plain),
        _processor_row("the same, processor time", again, bare, plain),
        _memory_row("memory at rest (RSS)", again, bare, plain),
        _row("start of `kirim-mcp` to the answer to `initialize`", tools, "", []),
        _memory_row("memory of `kirim-mcp` after that (RSS)", tools, "", []),
    ]


async def _start_tools() -> Start:
    command = "from bot.__main__ import mcp; mcp()"
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        command,
        cwd=ROOT,
        env={**os.environ, **AGENT},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(INITIALIZE)
    answer = await asyncio.wait_for(process.stdout.readline(), TIMEOUT_SECONDS)
    took = time.perf_counter() - began
    if b"serverInfo" not in answer:
        raise RuntimeError("the tools have not started")
    start = Start(took, processor_seconds(process), memory(process))
    process.kill()
    await process.wait()
    return start


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
            processor = processor_seconds(process)
            await asyncio.sleep(REST_SECONDS)
            return Start(took, processor, memory(process))


def _row(what: str, ours: list[Start], versus: str, theirs: list[Start]) -> Row:
    return _compare(what, ours, versus, theirs, lambda start: start.seconds, seconds)


def _processor_row(what: str, ours: list[Start], versus: str, theirs: list[Start]) -> Row:
    return _compare(what, ours, versus, theirs, lambda start: start.processor, seconds)


def _memory_row(what: str, ours: list[Start], versus: str, theirs: list[Start]) -> Row:
    return _compare(what, ours, versus, theirs, lambda start: start.megabytes, "{:.0f} MB".format)


def _compare(  # noqa: PLR0917  both sides, then what of them
    what: str,
    ours: list[Start],
    versus: str,
    theirs: list[Start],
    read: Callable[[Start], float],
    show: Callable[[float], str],
) -> Row:
    mine = statistics.median(map(read, ours))
    if not theirs:
        return Row(part="e", measured=what, ours=show(mine))
    other = statistics.median(map(read, theirs))
    return Row(
        part="e", measured=what, ours=show(mine), versus=versus, theirs=show(other), ratio=times_as_much(mine, other)
    )
