"""Replicas that are replaced one by one while users order: by a newer version, by the older one, with other keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from bot.infra.db.vault import generate_key
from tests.e2e.launcher import BOT
from tests.e2e.programs import run_program
from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster, running_cluster
from tests.replicas.journeys import Journey, new_journey

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

NEXT_VERSION = "tests.replicas.next_version_bot"


OLD, NEW = generate_key(), generate_key()
"""Keys. All replicas can read what the new one seals before one of them seals with it."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting_cluster(cluster_database: str, folder: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(folder, cluster_database, ENCRYPTION_KEYS=f"{OLD},{NEW}") as made:
        yield made


@asynccontextmanager
async def ordering(cluster: Cluster) -> AsyncIterator[list[Journey]]:
    """Let users order without pause within the block."""
    journeys: list[Journey] = []
    is_over = asyncio.Event()

    async def order() -> None:
        while not is_over.is_set():
            journeys.append(await new_journey(cluster.system, is_typing_ahead=len(journeys) % 2 == 1))
            await journeys[-1].walks()

    users = asyncio.gather(order(), order())
    try:
        yield journeys
    finally:
        is_over.set()
        await users


async def replace_all(cluster: Cluster, program: str = BOT, **settings: str) -> None:
    """Stop and start one replica after another."""
    for each in cluster.replicas:
        assert await each.stop() == 0
        await each.start(program, **settings)


async def test_a_newer_version_and_the_way_back_are_rolled_out_while_users_order(cluster: Cluster) -> None:
    async with ordering(cluster) as journeys:
        await replace_all(cluster, NEXT_VERSION)
        await replace_all(cluster)
    assert journeys
    assert all(each.has_ended for each in journeys)
    # The last newer one may have stopped before it sent what only it can read. Those rows wait until it is back.
    returning = cluster.replicas[0]
    assert await returning.stop() == 0
    await returning.start(NEXT_VERSION)
    assert (await audit(cluster, journeys)).broken == []
    assert await returning.stop() == 0
    await returning.start()


async def test_keys_are_rotated_beside_three_replicas_while_users_order(cluster: Cluster, folder: Path) -> None:
    async with ordering(cluster) as journeys:
        await replace_all(cluster, ENCRYPTION_KEYS=f"{NEW},{OLD}")
        rotated = await run_program(folder, "rotate-keys", environment=cluster.replicas[0].environment)
        assert rotated.code == 0, rotated
        assert "You can remove the older keys from ENCRYPTION_KEYS" in rotated.out
        first = cluster.replicas[0]
        assert await first.stop() == 0
        await first.start(ENCRYPTION_KEYS=NEW)
    assert (await audit(cluster, journeys)).broken == []
