"""Ports on loopback that stay free until a program opens them.

A port that the system picks can go to another process when it is released. These ports are below the range from which
systems pick, and no two test processes get the same one.
"""

import atexit
import fcntl
import os
import socket
import tempfile
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path

FIRST, NUMBER = 15_000, 15_000

_kept = ExitStack()
"""Claims and closed ports, held until the end of the process: what is left open then is reported as forgotten."""

atexit.register(_kept.close)
_numbers = count(os.getpid() * 37)


def free_port() -> int:
    """Claim a port for as long as this process lives."""
    while True:
        port = FIRST + next(_numbers) % NUMBER
        if _is_claimed_by_us(port) and _can_be_bound(port):
            return port


@cache
def closed_port() -> int:
    """Return a port that refuses connections. It is bound, but nothing listens on it."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    _kept.callback(taken.close)
    port: int = taken.getsockname()[1]
    return port


def _is_claimed_by_us(port: int) -> bool:
    folder = Path(tempfile.gettempdir()) / f"kirim-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    claim = (folder / str(port)).open("wb")
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        claim.close()
        return False
    _kept.callback(claim.close)
    return True


def _can_be_bound(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
