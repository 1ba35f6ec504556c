"""Run `python -m bot …` as in a terminal: in its own folder, with its own environment.

The program is forked from a process that has imported the code. With `cold` it is a new interpreter.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import bot
from tests.e2e import failure_report
from tests.e2e.launcher import Child, launcher
from tests.waiting import TIMEOUT_SECONDS, found

ROOT = Path(bot.__file__).parents[1]


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The exit code and output of a program."""

    code: int
    out: str
    err: str


async def run_program(
    folder: Path, *arguments: str, environment: Mapping[str, str], cold: bool = False
) -> ProgramResult:
    """Run a command of the bot to its end."""
    said, log = (_file(folder, arguments, name) for name in ("out", "err"))
    with said.open("wb") as out, log.open("wb") as err:
        process = await _start(folder, arguments, environment, out, err, cold=cold)
    try:
        code = await asyncio.wait_for(process.wait(), TIMEOUT_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return ProgramResult(code, said.read_text(), log.read_text())


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A running program, and the file with its output."""

    process: asyncio.subprocess.Process | Child
    log: Path

    async def says(self, words: str) -> str:
        """Wait until the program has written `words`, and return its output so far."""

        async def said() -> str:
            ended = self.process.returncode is not None
            so_far = self.log.read_text()
            assert words in so_far or not ended, so_far[-3000:]
            return so_far

        return await found(said, lambda so_far: words in so_far, what=repr(words))

    async def ends_on(self, sent: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(sent)
        return await asyncio.wait_for(self.process.wait(), TIMEOUT_SECONDS)


@asynccontextmanager
async def running_program(
    folder: Path, *arguments: str, environment: Mapping[str, str], cold: bool = False
) -> AsyncIterator[RunningProgram]:
    """Start a command of the bot, and stop it with all its children at the end of the block."""
    log = _file(folder, arguments, "log")
    failure_report.started_program(log)
    with log.open("wb") as sink:
        process = await _start(folder, arguments, environment, sink, sink, cold=cold)
    try:
        yield RunningProgram(process, log)
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), TIMEOUT_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return only these settings, and what the program needs to start."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **environment}


def _file(folder: Path, arguments: Sequence[str], name: str) -> Path:
    return folder / f"{arguments[0]}-{time.monotonic_ns()}.{name}"


async def _start(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], out: BinaryIO, err: BinaryIO, *, cold: bool
) -> asyncio.subprocess.Process | Child:
    env = clean_environment(environment)
    if not cold:
        return await launcher().start(arguments, environment=env, log=err.fileno(), stdout=out.fileno(), folder=folder)
    command = (sys.executable, "-m", "bot", *arguments)
    return await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdout=out, stderr=err)
