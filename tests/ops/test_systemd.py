"""The unit for systemd: an outage of the database, however long, never ends it."""

import asyncio
import configparser
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.infra.watchdog import HANG_SECONDS, HUNG
from tests.infra.keys import ENCRYPTION_KEYS
from tests.ops.compose import ROOT, SHUTDOWN_SECONDS
from tests.ports import free_port

UNIT = ROOT / "ops/kirim.service"
HOUR = 3600.0


def read_unit() -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]  # names of systemd have capitals
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return {name: dict(parser[name]) for name in parser.sections()}


@dataclass
class Systemd:
    """What systemd does with a service that ends, by its rules (`Restart`, `RestartSec`, the limit of starts)."""

    unit: dict[str, dict[str, str]]
    now: float = 0.0

    def run(self, exits: Callable[[float], tuple[float, int] | None]) -> str:
        """Start the service again and again. `exits` says after how long a start ends, and with which code.

        It returns None when the service stays. Return "running" then, or "failed" if systemd gave up.
        """
        service = self.unit["Service"]
        interval = float(self.unit["Unit"].get("StartLimitIntervalSec", 10))
        burst = int(self.unit["Unit"].get("StartLimitBurst", 5))
        starts: list[float] = []
        while True:
            starts = [start for start in starts if start > self.now - interval]
            if interval and len(starts) >= burst:
                return "failed"
            starts.append(self.now)
            ended = exits(self.now)
            if ended is None:
                return "running"
            seconds, code = ended
            self.now += seconds
            if str(code) in service["RestartPreventExitStatus"].split():
                return "failed"
            self.now += float(service["RestartSec"])


async def start_without_database(folder: Path) -> tuple[float, int]:
    """Start the bot on a PostgreSQL that doesn't answer. Return the seconds until it ended, and its exit code."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "DATABASE_URL": f"postgresql://kirim@127.0.0.1:{free_port()}/kirim",
        "ENCRYPTION_KEYS": ENCRYPTION_KEYS,
        "SERVICE_API_KEY": "pk_live_tenant1.s3cr3t-s3cr3t",
        "SERVICE_BASE_URL": "https://service.example",
        "TELEGRAM_BOT_TOKEN": "123456789:AAF-secret_secret_secret_secret_secret",
    }
    loop = asyncio.get_running_loop()
    began = loop.time()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "run"), cwd=folder, env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, written = await process.communicate()
    assert b"Kirim can't use the database (DATABASE_URL): connection refused" in written
    return loop.time() - began, process.returncode or 0


@pytest.mark.process
async def test_an_hour_without_the_database_does_not_end_the_unit(tmp_path: Path) -> None:
    seconds, code = await start_without_database(tmp_path)
    systemd = Systemd(read_unit())
    # The shorter a start, the sooner a limit of starts is reached.
    assert systemd.run(lambda now: (min(seconds, 0.5), code) if now < HOUR else None) == "running"
    assert systemd.now < HOUR + 10


@pytest.mark.parametrize(("code", "state"), [(2, "failed"), (1, "running"), (HUNG, "running"), (0, "running")])
def test_only_a_wrong_setting_ends_the_unit(code: int, state: str) -> None:
    assert Systemd(read_unit()).run(lambda now: (1.0, code) if now < 1 else None) == state


def test_the_times_of_the_unit_fit_those_of_the_bot() -> None:
    service = read_unit()["Service"]
    assert int(service["TimeoutStopSec"]) > SHUTDOWN_SECONDS
    assert int(service["WatchdogSec"]) > HANG_SECONDS
    assert service["Restart"] == "always"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_understands_the_unit_and_finds_it_closed(tmp_path: Path) -> None:
    copy = tmp_path / "kirim.service"
    copy.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/kirim/bin/kirim", "/bin/true"), encoding="utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    # "OK" in systemd's scale of exposure begins at 2.0. A unit without any of these lines has 9.2.
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(copy)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
