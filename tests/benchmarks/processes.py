"""Bots in separate processes: they are started, measured from outside, and ended."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it has no stubs of its own

MEGABYTE = 1024 * 1024
ENDS_WITHIN = 8.0
KEPT = ("PATH", "HOME", "LANG", "PYTHONPATH")
Process = asyncio.subprocess.Process


@asynccontextmanager
async def running(*module: str, log: Path, environment: Mapping[str, str] | None = None) -> AsyncIterator[Process]:
    """Run `python -m MODULE ARGUMENTS` within the block, with its output in `log`."""
    async with running_program("-m", *module, log=log, environment=environment) as process:
        yield process


@asynccontextmanager
async def running_program(
    *arguments: str, log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Run `python ARGUMENTS` within the block, with its output in `log`."""
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env={**inherited, **(environment or {})}, stdout=file, stderr=file
        )
    try:
        yield process
    finally:
        await _end(process)


async def until(event: asyncio.Event, process: Process, log: Path, within: float) -> None:
    """Wait for an event that the process causes.

    Raises:
        RuntimeError: the process ended before, or took too long. The text has the end of its log.
    """
    waiting, ended = asyncio.create_task(event.wait()), asyncio.create_task(process.wait())
    await asyncio.wait({waiting, ended}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    waiting.cancel()
    if not event.is_set():
        raise RuntimeError(f"what was waited for did not happen: {_end_of(log)}")


def processor_seconds(process: Process) -> float:
    """Return the processor time that the process has used so far, in the program and in the system."""
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def memory(process: Process) -> float:
    """Return the resident memory in megabytes."""
    return float(psutil.Process(process.pid).memory_info().rss) / MEGABYTE


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), ENDS_WITHIN)
    except TimeoutError:
        process.kill()
        await process.wait()
