"""`python -m bot sandbox` as a user starts and stops it."""

import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]  # it has no stubs of its own

from bot.sandbox.leftovers import REPLICA_LOCK
from tests.e2e.chat_user import ChatUser
from tests.e2e.programs import RunningProgram, running_program
from tests.ports import free_port
from tests.waiting import TIMEOUT_SECONDS, until

ARGUMENTS = ("sandbox", "--port", "0", "--service-port", "0", "--wallet-port", "0", "--state", "here")
ADDRESS = re.compile(r"^\s+(http://\S+)$", re.MULTILINE)


@asynccontextmanager
async def sandbox(folder: Path, *more: str, cold: bool = False) -> AsyncIterator[tuple[RunningProgram, ChatUser]]:
    """Yield a sandbox that has printed its address, and its user Emma. With `cold` its bot starts cold, too."""
    async with open_sandbox(folder, *more, cold=cold) as (program, http):
        yield program, ChatUser(http, 1001)


@asynccontextmanager
async def open_sandbox(
    folder: Path, *more: str, cold: bool = False
) -> AsyncIterator[tuple[RunningProgram, httpx.AsyncClient]]:
    """Yield a sandbox that has printed its address, and a client of that address."""
    arguments = (*ARGUMENTS, "--wallet-port", str(free_port()), *more)
    async with running_program(folder, *arguments, environment={}, cold=cold) as program:
        (address,) = ADDRESS.findall(await program.says(":\n\n      http://127.0.0.1:"))
        async with httpx.AsyncClient(base_url=address, timeout=TIMEOUT_SECONDS) as http:
            yield program, http


def children(program: RunningProgram) -> set[psutil.Process]:
    """Return what runs for the sandbox. Bots that are no children of it are known by the files of their locks."""
    found = set(psutil.Process(program.process.pid).children(recursive=True))
    for lock in (program.log.parent / "here").glob(REPLICA_LOCK.format("*")):
        with suppress(ValueError, psutil.NoSuchProcess):
            found.add(psutil.Process(int(lock.read_text())))
    return found


async def is_gone(child: psutil.Process) -> bool:
    return not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


async def ends_clean(program: RunningProgram, sent: signal.Signals) -> None:
    """Stop it, with code 0 and nothing left behind."""
    left = children(program)
    assert await program.ends_on(sent) == 0
    for child in left:
        await until(partial(is_gone, child), what="its end")
