"""Runs `python -m bot …` as somebody at a terminal would: in a folder of its own, with an environment of its own.

Each starts cold, as at a terminal, unless a story asks for a `warm` one: a fork of a process that has read the code.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import bot
from tests.e2e.nursery import Child, nursery

ROOT = Path(bot.__file__).parents[1]
PATIENCE = 30.0
GRACE = 8.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and all that it said."""

    code: int
    out: str
    err: str


async def run(folder: Path, *arguments: str, environment: Mapping[str, str]) -> Ended:
    """Run a command of the bot to its end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        *arguments,
        cwd=folder,
        env=clean(environment),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ended(process.returncode or 0, out.decode(), err.decode())


async def run_warm(folder: Path, *arguments: str, environment: Mapping[str, str]) -> Ended:
    """Likewise, of a fork."""
    said, log = (folder / f"{arguments[0]}-{time.monotonic_ns()}.{name}" for name in ("out", "err"))
    with said.open("wb") as out, log.open("wb") as err:
        process = await nursery().start(
            arguments, environment=clean(environment), log=err.fileno(), stdout=out.fileno(), folder=folder
        )
    try:
        code = await asyncio.wait_for(process.wait(), PATIENCE)
    finally:
        process.kill()
    return Ended(code, said.read_text(), log.read_text())


@dataclass(frozen=True, slots=True)
class Running:
    """A program that goes on, and the file that takes all it says."""

    process: asyncio.subprocess.Process | Child
    log: Path

    async def says(self, words: str) -> str:
        """Wait until it has said this; all that it said so far."""
        deadline = time.monotonic() + PATIENCE
        while words not in (said := self.log.read_text()):
            assert self.process.returncode is None, said[-3000:]
            assert time.monotonic() < deadline, said[-3000:]
            await asyncio.sleep(0.03)
        return said

    async def ends_on(self, sent: signal.Signals) -> tuple[int, float]:
        """Send a signal; its exit code, and the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(sent)
        return await asyncio.wait_for(self.process.wait(), PATIENCE), time.monotonic() - began


@asynccontextmanager
async def running(
    folder: Path, *arguments: str, environment: Mapping[str, str], warm: bool = False
) -> AsyncIterator[Running]:
    """Start a command of the bot; ended at the end of the block if it is still there, with whatever it has started."""
    log = folder / f"{arguments[0]}-{time.monotonic_ns()}.log"
    settings = clean(environment)
    process: asyncio.subprocess.Process | Child
    with log.open("wb") as sink:
        if warm:
            process = await nursery().start(arguments, environment=settings, log=sink.fileno(), folder=folder)
        else:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", *arguments, cwd=folder, env=settings, stdout=sink, stderr=sink
            )
    try:
        yield Running(process, log)
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), GRACE)
            except TimeoutError:
                process.kill()
                await process.wait()


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """These settings and no others; the program is found wherever it is started."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **environment}
