"""A broadcast whose leader is killed, beside two other replicas."""

import pytest

from tests.e2e.broadcasts.subscribers import (
    add_confirmed_broadcast,
    add_subscribers,
    count_messages,
    find_unknown,
    wait_for_live_message,
    wait_for_report,
    wait_until_reached,
)
from tests.replicas.cluster import Cluster

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

READERS, REACHED = 120, 30


async def test_a_broadcast_goes_on_after_its_leader_is_killed_and_reaches_nobody_twice(cluster: Cluster) -> None:
    system = cluster.system
    await system.oscar.says("/start")
    readers = await add_subscribers(system, READERS)
    broadcast = await add_confirmed_broadcast(system)
    await wait_for_live_message(system, broadcast)
    await wait_until_reached(system, readers, REACHED)
    killed = await cluster.leader()
    await killed.kill()
    failed_at = await cluster.now()
    report = await wait_for_report(system, broadcast)
    await cluster.leader_is_followed(killed, failed_at)
    reached = await count_messages(system, readers)
    unknown = await find_unknown(system, broadcast)
    assert set(reached.values()) == {1}
    assert set(readers) - reached.keys() <= unknown, "nobody is left out but who is listed"
    assert report["delivered"] + len(unknown) == READERS
    assert len(reached) > REACHED
