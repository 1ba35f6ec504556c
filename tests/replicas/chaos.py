"""Random failures of replicas: killed, frozen, cut from PostgreSQL, or connected to it without an answer."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.replicas.cluster import LEASE_SECONDS, Cluster, replace
from tests.replicas.replica import Replica

PAUSE_SECONDS = (3.0, 8.0)
ALONE_PAUSE_SECONDS = (12.0, 20.0)
"""One replica alone works between two failures. Several take over from each other."""

DOWN_SECONDS = (0.5, 4.0)
RECOVERY_SECONDS = 2.0
"""How long a replica that works again may take to connect and look for work. It counts as failing until then."""

RESTART_SECONDS = 0.5
LONGER_THAN_LEASE_SECONDS = (LEASE_SECONDS + 1.0, LEASE_SECONDS + 5.0)


@dataclass(frozen=True, slots=True)
class Change:
    """When a replica failed, or worked again: then `failure` is None."""

    at: datetime
    replica: str
    failure: str | None

    def __str__(self) -> str:
        return f"{self.at:%H:%M:%S.%f} {self.replica}: {self.failure or 'works again'}"


class Chaos:
    """Makes a random replica fail every few seconds. At least one always works, if there are several."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._random = random.Random(seed)
        self._is_replacing = False
        self._starting = asyncio.Lock()
        self._failing: dict[Replica, asyncio.Task[None]] = {}
        self.counts: Counter[str] = Counter()
        self.journal: list[Change] = []
        self.replaced: list[tuple[datetime, datetime]] = []
        """From when until when all replicas were stopped and started."""

        self._failures: dict[str, Callable[[Replica], Awaitable[None]]] = {
            "killed": self._kill,
            "frozen": self._freeze,
            "backends terminated": self._terminate_backends,
            "connections cut": self._cut,
            "stalled": self._stall,
        }

    async def run(self) -> None:
        """Run until cancelled."""
        is_alone = len(self._cluster.replicas) == 1
        while True:
            await asyncio.sleep(self._random.uniform(*(ALONE_PAUSE_SECONDS if is_alone else PAUSE_SECONDS)))
            working = [each for each in self._cluster.replicas if each not in self._failing and each.is_running]
            if not self._is_replacing and (len(working) > 1 or working == self._cluster.replicas):
                replica, name = self._random.choice(working), self._random.choice(sorted(self._failures))
                self.counts[name] += 1
                task = asyncio.create_task(self._fail(replica, name))
                self._failing[replica] = task

    async def ends(self) -> None:
        """Wait for the end of the running failures, and bring all replicas back."""
        await asyncio.gather(*self._failing.values())
        await self._restart_ended()
        await self._cluster.restore()

    async def replace_all(self, program: str | None = None, **settings: str) -> None:
        """Stop all replicas, and start all as another version or with other keys. No other replica fails meanwhile."""
        self._is_replacing = True
        await self.ends()
        async with self._starting:
            began = datetime.now(UTC)
            self.journal.append(Change(began, "all", "replaced"))
            await replace(self._cluster.replicas, program, **settings)
            self.replaced.append((began, datetime.now(UTC)))
        self._is_replacing = False

    async def _fail(self, replica: Replica, name: str) -> None:
        self.journal.append(Change(datetime.now(UTC), replica.name, name))
        try:
            await self._failures[name](replica)
        finally:
            self.journal.append(Change(datetime.now(UTC), replica.name, None))
            await asyncio.sleep(RECOVERY_SECONDS)
            del self._failing[replica]

    async def keep_running(self) -> None:
        """Start replicas that have ended on their own, as a service manager does, until cancelled."""
        while True:
            await asyncio.sleep(RESTART_SECONDS)
            await self._restart_ended()

    async def _restart_ended(self) -> None:
        async with self._starting:
            for each in self._cluster.replicas:
                if each not in self._failing and not each.is_running:
                    self.counts["ended on their own"] += 1
                    await each.start()

    async def _kill(self, replica: Replica) -> None:
        await replica.kill()
        await asyncio.sleep(self._random.uniform(*DOWN_SECONDS))
        await replica.start()

    async def _freeze(self, replica: Replica) -> None:
        replica.freeze()
        await asyncio.sleep(self._random.uniform(*LONGER_THAN_LEASE_SECONDS))
        replica.thaw()

    async def _terminate_backends(self, replica: Replica) -> None:
        await replica.terminate_backends(self._cluster.database)

    async def _cut(self, replica: Replica) -> None:
        replica.relay.cut()

    async def _stall(self, replica: Replica) -> None:
        replica.relay.stall()
        await asyncio.sleep(self._random.uniform(*LONGER_THAN_LEASE_SECONDS))
        replica.relay.resume()


@asynccontextmanager
async def chaos(cluster: Cluster, seed: int) -> AsyncIterator[Chaos]:
    """Make replicas fail within the block. At its end all of them work again."""
    made = Chaos(cluster, seed)
    running = [asyncio.create_task(made.run()), asyncio.create_task(made.keep_running())]
    try:
        yield made
    finally:
        for task in running:
            task.cancel()
        ended = await asyncio.gather(*running, return_exceptions=True)
        await made.ends()
        for error in ended:
            if isinstance(error, Exception):
                raise error
