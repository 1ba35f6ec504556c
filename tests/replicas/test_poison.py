"""An update that kills the process that handles it is dropped after a few attempts, and other chats are served."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.replicas.audit import audit
from tests.replicas.bots import CRASHING, KILLING_TEXT
from tests.replicas.cluster import Cluster, running_cluster
from tests.replicas.journeys import new_journey

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

ATTEMPTS = 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crashing(cluster_database: str, folder: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(folder, cluster_database, program=CRASHING) as made:
        yield made


async def keep_running(cluster: Cluster, deaths: Counter[str]) -> None:
    """Start each replica that has died again, and end its leases early, as if their time had passed."""
    while True:
        await asyncio.wait(
            {asyncio.ensure_future(each.running.wait()) for each in cluster.replicas},
            return_when=asyncio.FIRST_COMPLETED,
        )
        for each in cluster.replicas:
            if not each.is_running:
                deaths[each.name] += 1
                await cluster.end_leases_of(each)
                await each.start()


async def test_an_update_that_kills_its_process_is_dropped_after_five_attempts(crashing: Cluster) -> None:
    poisoned, other = await new_journey(crashing.system), await new_journey(crashing.system)
    deaths = Counter[str]()
    restarting = asyncio.create_task(keep_running(crashing, deaths))
    await poisoned.chat.says(KILLING_TEXT)
    await asyncio.gather(poisoned.walks(), other.walks())
    restarting.cancel()
    assert 1 <= deaths.total() <= ATTEMPTS + 1, "the first attempt isn't counted, because it wasn't suspect yet"
    assert max(deaths.values()) <= ATTEMPTS
    assert sum(len(each.lines("chat_work_dropped")) for each in crashing.replicas) == 1
    assert (await audit(crashing, [poisoned, other])).broken == []
