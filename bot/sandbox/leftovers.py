"""What a killed sandbox leaves behind: its bot or replicas, and PostgreSQL. A watcher stops them, or the next start.

Run as a program, this file is the watcher's work.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import bot
from bot.sandbox import postgresql, process_locks
from bot.sandbox.postgresql import run_at_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCK: Final = "sandbox.lock"
REPLICA_LOCK: Final = "replica-{}.lock"
WAIT_SECONDS: Final = 10.0
"""How long a sandbox waits for the watcher of the one before it."""


class SandboxIsRunning(Exception):
    """Another sandbox uses this state folder."""


@contextmanager
def only_sandbox(state: Path, print_line: Callable[[str], object] = print) -> Iterator[None]:
    """Be the only sandbox on this folder in the block. First stop what a killed one left.

    `print_line` says that we wait for another one to end.

    Raises:
        SandboxIsRunning: there is another one.
    """
    with ExitStack() as stack:
        try:
            try:
                stack.enter_context(process_locks.locked(state / LOCK))
            except process_locks.LockHeld:
                print_line(f"Waiting up to {WAIT_SECONDS:g} s for another sandbox in {state} to end.")
                stack.enter_context(process_locks.locked(state / LOCK, wait_seconds=WAIT_SECONDS))
        except process_locks.LockHeld:
            raise SandboxIsRunning(
                f"Another sandbox uses the folder {state}. Stop it, or choose another folder with --state."
            ) from None
        stop(state)
        yield


@contextmanager
def stopped_after_a_kill(state: Path) -> Iterator[None]:
    """Start a watcher for the block. It stops replicas and PostgreSQL if this process is killed."""
    command = (sys.executable, "-m", "bot.sandbox.leftovers", str(state.resolve()))
    end = run_at_end(command, folder=Path(bot.__file__).parents[1])
    try:
        yield
    finally:
        end()


def stop(state: Path) -> None:
    """Kill the replicas that still run on this state, and stop their PostgreSQL."""
    for path in sorted(state.glob(REPLICA_LOCK.format("*"))):
        if process_locks.is_held(path):
            _kill(path)
    postgresql.stop(state)


def _kill(path: Path) -> None:
    with suppress(ProcessLookupError, ValueError):
        os.kill(int(path.read_text(encoding="ascii")), signal.SIGKILL)
    process_locks.is_held(path, wait_seconds=process_locks.END_SECONDS)


def main(state: Path) -> None:
    """Stop what a sandbox left, unless another sandbox has started: then it does."""
    with suppress(process_locks.LockHeld), process_locks.locked(state / LOCK):
        stop(state)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
