"""Many people order while replicas fail in many ways at once, are stopped and started, and their clocks differ."""

import asyncio
from pathlib import Path

import pytest

from tests.replicas.audit import audit
from tests.replicas.bots import AHEAD
from tests.replicas.cluster import replace, running_cluster
from tests.replicas.journeys import new_journeys
from tests.replicas.soak import find_broken, soak

pytestmark = [pytest.mark.process, pytest.mark.asyncio]

SEED = 28
MINUTES, PEOPLE, AT_ONCE, READERS = 0.5, 40, 8, 60


async def test_people_notice_no_failure_no_upgrade_and_no_change_of_keys(own_database: str, tmp_path: Path) -> None:
    result = await soak(
        own_database,
        tmp_path,
        minutes=MINUTES,
        replicas=3,
        seed=SEED,
        users=AT_ONCE,
        orders=PEOPLE,
        readers=READERS,
    )
    assert find_broken(result) == [], result.chaos.journal
    assert result.audit.orders >= PEOPLE
    assert result.chaos.counts.total() > 0


async def test_clocks_that_differ_by_two_seconds_lose_and_double_nothing(own_database: str, tmp_path: Path) -> None:
    async with running_cluster(tmp_path, own_database, replicas=2) as cluster:
        await replace(cluster.replicas[1:], AHEAD)
        journeys = await new_journeys(cluster.system, 4)
        await asyncio.gather(
            *(each.walks() for each in journeys[:2]), *(each.goes_to_review() for each in journeys[2:])
        )
        leader = await cluster.leader()
        await leader.kill()
        await asyncio.gather(*(each.goes_on_from_review() for each in journeys[2:]))
        assert await cluster.leader() is not leader, "each of both clocks has led"
        assert (await audit(cluster, journeys)).broken == []
