"""Two versions of the program with two sets of keys on one database: nothing is lost, and nothing doubled."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.infra.db.vault import generate_key
from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster, running_cluster
from tests.replicas.exchange import NEXT_VERSION, Exchange
from tests.replicas.journeys import new_journey
from tests.replicas.next_version_bot import MESSAGE
from tests.replicas.test_replaced_replicas import ordering
from tests.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

OLD = generate_key()
SEED = 28
EXCHANGES = 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting_cluster(cluster_database: str, folder: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(folder, cluster_database, ENCRYPTION_KEYS=OLD) as made:
        yield made


async def test_replicas_of_two_versions_with_two_key_sets_are_exchanged_while_users_order(cluster: Cluster) -> None:
    randomness = random.Random(SEED)
    exchange, first = Exchange(randomness, OLD), cluster.replicas[0]
    assert await first.stop() == 0
    assert not await exchange.starts(first, NEXT_VERSION, exchange.key_sets[2]), "the others don't know the new key"
    assert "only then put it first" in first.log.read_text()
    assert await exchange.starts(first, NEXT_VERSION, exchange.key_sets[1])
    async with ordering(cluster) as journeys:
        for _ in range(EXCHANGES):
            await exchange.exchange(randomness.choice(cluster.replicas))
        await exchange.finish(cluster.replicas)
        last = await new_journey(cluster.system)
        await last.walks()
        journeys.append(last)
    assert all(each.has_ended for each in journeys)
    assert (await audit(cluster, journeys)).broken == []
    for each in journeys:
        assert sum(MESSAGE in message.text for message in cluster.record.messages(each.chat.id)) <= 1
    assert sum(MESSAGE in message.text for message in cluster.record.messages(last.chat.id)) == 1
    (left,) = await cluster.query("SELECT count(*) AS unsent FROM outbox WHERE kind = 'also_paid' AND status <> 'sent'")
    assert left["unsent"] == 0


async def test_a_replica_that_comes_back_without_the_others_key_leaves_the_work_to_them(cluster: Cluster) -> None:
    lacking, *others = cluster.replicas
    for each in others:
        assert await each.stop() == 0
    lacking.freeze()
    # As if it had been frozen for longer than its record lasts.
    await cluster.query("UPDATE processes SET expires_at = '2020-01-01 00:00:00+00'")
    settings = {"ENCRYPTION_KEYS": f"{generate_key()},{lacking.environment['ENCRYPTION_KEYS']}"}
    for each in others:
        await each.start(NEXT_VERSION, **settings)
    lacking.thaw()

    async def has_noticed() -> bool:
        return bool(lacking.lines("key_missing"))

    async with ordering(cluster) as journeys:
        await until(has_noticed, what="it notices that it lacks a key")
        journey = await new_journey(cluster.system)
        await journey.walks()
        assert await cluster.leader() in others
        assert await cluster.owner_of(journey.chat.id) in others
        assert await lacking.stop() == 0
        await lacking.start(NEXT_VERSION, **settings)
    assert all(each.has_ended for each in journeys)
    assert (await audit(cluster, [*journeys, journey])).broken == []
