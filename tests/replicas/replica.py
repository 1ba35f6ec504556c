"""One replica: a real bot in a process of its own, behind its own relays, which tests kill, freeze and cut off."""

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg  # type: ignore[import-untyped]  # it has no types

from tests.e2e.launcher import BOT, Child, launcher
from tests.e2e.programs import clean_environment
from tests.ports import free_port
from tests.replicas.relay import HOST, PostgresqlRelay, TelegramRelay
from tests.waiting import TIMEOUT_SECONDS, until

STARTED = '"event": "bot_started"'


class Replica:
    """A bot that can be started again. Its log has the lines of all starts."""

    def __init__(
        self, name: str, environment: Mapping[str, str], log: Path, relay: PostgresqlRelay, telegram: TelegramRelay
    ) -> None:
        self.name = name
        self.environment = dict(environment)
        self.program = BOT
        self.log = log
        self.relay = relay
        self.telegram = telegram
        self.starts: list[set[int]] = []
        """For each start the ids of the server's processes (backends) that have served it."""

        self.process: Child | None = None
        self.is_frozen = False
        self._works_from = 0

    @property
    def is_running(self) -> bool:
        """Whether the process runs or is frozen."""
        return self.process is not None and self.process.returncode is None

    @property
    def running(self) -> Child:
        """The process."""
        assert self.process is not None, f"{self.name} was never started"
        return self.process

    async def start(self, program: str | None = None, **settings: str) -> None:
        """Start the bot, and wait until it works. Without a program or settings they are those of the last start."""
        await self.begin(program, **settings)
        await self.works()

    async def begin(self, program: str | None = None, **settings: str) -> None:
        """Start the bot, and don't wait for it."""
        assert not self.is_running, f"{self.name} runs"
        self.program = program or self.program
        self.environment |= settings
        self.relay.backends = set()
        self.starts.append(self.relay.backends)
        self._works_from = self._count_starts()
        with self.log.open("ab") as log:
            self.process = await launcher().start(
                ["run"], environment=clean_environment(self.environment), log=log.fileno(), program=self.program
            )
        self.is_frozen = False

    async def works(self) -> None:
        """Wait until the last start has succeeded."""

        async def has_started() -> bool:
            assert self.running.returncode is None, f"{self.name} ended at its start:\n{self.log.read_text()[-3000:]}"
            return self._count_starts() > self._works_from

        await until(has_started, what=f"the start of {self.name}")

    async def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.running.kill()
        await self.running.wait()

    async def stop(self) -> int:
        """Stop the process with SIGTERM, and return its exit code."""
        self.running.terminate()
        return await self.ended()

    async def ended(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        return await asyncio.wait_for(self.running.wait(), TIMEOUT_SECONDS)

    def freeze(self) -> None:
        """Stop the process where it is (SIGSTOP)."""
        self.running.send_signal(signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        """Let a frozen process continue (SIGCONT)."""
        self.running.send_signal(signal.SIGCONT)
        self.is_frozen = False

    async def terminate_backends(self, database: str) -> int:
        """End the replica's connections from the server's side, and return how many there were."""
        connection = await asyncpg.connect(database)
        try:
            ended = await connection.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY($1::integer[])",
                list(self.relay.backends),
            )
        finally:
            await connection.close()
        return len(ended)

    def lines(self, event: str | None = None) -> list[dict[str, Any]]:
        """Return what the replica has logged, all of it or the events of one name."""
        read = (_parse(line) for line in self.log.read_text().splitlines())
        return [line for line in read if line and event in {None, line.get("event")}]

    async def close(self) -> None:
        """Kill the process, and close the relays."""
        if self.is_running:
            await self.kill()
        await self.relay.close()
        await self.telegram.close()

    def _count_starts(self) -> int:
        return self.log.read_text().count(STARTED) if self.log.exists() else 0


async def create_replica(number: int, environment: Mapping[str, str], folder: Path) -> Replica:
    """Create a replica with its own relays and ports. It isn't started."""
    name = f"replica-{number}"
    relay = PostgresqlRelay(environment["DATABASE_URL"])
    telegram = TelegramRelay(urlsplit(environment["TELEGRAM_API_URL"]).port or 0)
    own = {
        "DATABASE_URL": relay.url(await relay.start()),
        "TELEGRAM_API_URL": f"http://{HOST}:{await telegram.start()}",
        "HTTP_PORT": str(free_port()),
        "METRICS_PORT": str(free_port()),
    }
    return Replica(name, {**environment, **own}, folder / f"{name}.log", relay, telegram)


def _parse(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
