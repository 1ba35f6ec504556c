"""A process whose event loop hangs ends itself. One that works, or that was stopped as a whole, doesn't."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.infra.watchdog import HUNG

ROOT = Path(__file__).parents[2]
TICK_SECONDS = 0.05
HANG_SECONDS = 1.0
CHILD = f"""
import asyncio, sys, time
from bot.infra.watchdog import Watchdog

def block_the_loop():
    time.sleep(60)

async def main():
    async with Watchdog(hang_seconds={HANG_SECONDS}, tick_seconds={TICK_SECONDS}).running():
        print("running", flush=True)
        if await asyncio.to_thread(sys.stdin.readline) == "block\\n":
            block_the_loop()

asyncio.run(main())
"""


def start_child(**environment: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    return child


@pytest.mark.process
def test_a_process_that_hangs_writes_its_stacks_and_ends() -> None:
    with start_child() as child:
        _, written = child.communicate("block\n", timeout=60)
    assert child.returncode == HUNG
    assert "block_the_loop" in written


@pytest.mark.process
def test_a_process_that_was_stopped_as_a_whole_goes_on() -> None:
    with start_child() as child:
        child.send_signal(signal.SIGSTOP)
        time.sleep(2 * HANG_SECONDS)
        child.send_signal(signal.SIGCONT)
        time.sleep(HANG_SECONDS)
        _, written = child.communicate("end\n", timeout=60)
    assert (child.returncode, written) == (0, "")


@pytest.mark.process
def test_systemd_is_told_that_the_process_works(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(60)
        with start_child(NOTIFY_SOCKET=address) as child:
            assert {manager.recv(100) for _ in range(3)} == {b"WATCHDOG=1"}
            child.communicate("end\n", timeout=60)
    assert child.returncode == 0
