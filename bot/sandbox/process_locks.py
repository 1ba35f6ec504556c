"""Locks that a process holds as long as it lives, however it ends.

A started process inherits the open file of its lock. So a later sandbox finds processes that a killed sandbox left. The
number of a process alone doesn't show that: the system gives it to other processes later.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOK_SECONDS: Final = 0.05
END_SECONDS: Final = 10.0
"""How long to wait for the end of a process that was killed or has stopped its work."""


class LockHeld(Exception):
    """Another process holds the lock."""


@contextmanager
def locked(path: Path, *, wait_seconds: float = 0) -> Iterator[int]:
    """Hold the lock in the block, and yield its open file for a process to inherit. That process keeps the lock.

    Raises:
        LockHeld: another process still holds it after `wait_seconds`.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + wait_seconds
        while not _lock(file):
            if time.monotonic() >= end:
                raise LockHeld
            time.sleep(LOOK_SECONDS)
        yield file
    finally:
        os.close(file)


def is_held(path: Path, *, wait_seconds: float = 0) -> bool:
    """Return whether a process holds the lock, still after `wait_seconds`."""
    if not path.exists():
        return False
    try:
        with locked(path, wait_seconds=wait_seconds):
            return False
    except LockHeld:
        return True


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
