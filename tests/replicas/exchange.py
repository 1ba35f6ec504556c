"""Replicas that are exchanged one by one: by another version of the program, with other keys."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable

from bot.infra.db.vault import generate_key
from tests.e2e.launcher import BOT
from tests.replicas.replica import Replica

NEXT_VERSION = "tests.replicas.next_version_bot"
PROGRAMS = (BOT, NEXT_VERSION)
BAD_SETTINGS = 2


class Exchange:
    """Exchanges replicas at random.

    Args:
        randomness: what is chosen with.
        old: the key that all replicas begin with.
    """

    def __init__(self, randomness: random.Random, old: str) -> None:
        self.old, self.new = old, generate_key()
        self._random = randomness
        self.counts: Counter[str] = Counter()

    @property
    def key_sets(self) -> tuple[str, ...]:
        """The sets of keys, in the order in which they are rolled out."""
        return self.old, f"{self.old},{self.new}", f"{self.new},{self.old}"

    async def exchange(self, replica: Replica) -> None:
        """Stop a replica, and start another version in its place, perhaps with other keys.

        If its keys are refused beside those of the others, start it with keys that all of them can be beside.
        """
        program, keys = self._random.choice(PROGRAMS), self._random.choice(self.key_sets)
        assert await replica.stop() == 0
        if await self.starts(replica, program, keys):
            return
        self.counts["refused"] += 1
        assert await self.starts(replica, program, self.key_sets[1]), "both keys, the older one first, always fit"

    async def finish(self, replicas: Iterable[Replica]) -> None:
        """Let all replicas be of the newer version, which knows everything that was written."""
        for each in replicas:
            assert await each.stop() == 0
            assert await self.starts(each, NEXT_VERSION, self.key_sets[1])

    async def starts(self, replica: Replica, program: str, keys: str) -> bool:
        """Start a version with keys. Return False if the keys are refused."""
        await replica.begin(program, ENCRYPTION_KEYS=keys)
        working = asyncio.create_task(replica.works())
        ended = asyncio.create_task(replica.running.wait())
        await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        is_refused = ended.done()
        for task in (working, ended):
            task.cancel()
        await asyncio.gather(working, ended, return_exceptions=True)
        if is_refused:
            assert replica.running.returncode == BAD_SETTINGS, replica.log.read_text()[-3000:]
            return False
        self.counts[f"{program.rpartition('.')[2]} with keys {self.key_sets.index(keys)}"] += 1
        return True
