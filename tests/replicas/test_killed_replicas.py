"""Replicas that are killed or lose their connections while users order."""

import asyncio

import pytest

from tests.e2e.faults import calls_of, clear_faults, hold_call
from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster
from tests.replicas.journeys import PAID, check_chat, new_journey, new_journeys
from tests.texts import like

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


async def test_a_payment_is_reported_after_the_replica_that_was_reporting_it_is_killed(cluster: Cluster) -> None:
    journey = await new_journey(cluster.system)
    await journey.goes_to_review()
    await journey.confirms()
    order = await journey.gets_invoice()
    async with hold_call(calls_of(cluster.system, "sendMessage"), journey.chat, "delay_after"):
        await cluster.system.service.pays(order)
    killed = await cluster.owner_of(journey.chat.id)
    await killed.kill()
    await clear_faults(cluster.system)
    await journey.chat.sees_times(2, like(PAID))
    assert await cluster.owner_of(journey.chat.id) is not killed
    await journey.gets_rupiah_sent()
    seen = await check_chat(journey, cluster.record)
    assert seen.notifications == {"invoice": 1, "paid": 2, "sent": 1}
    assert (await audit(cluster, [journey])).broken == []


async def test_orders_go_through_while_one_replica_after_another_loses_its_connections(cluster: Cluster) -> None:
    first, second, third = cluster.replicas
    journeys = await new_journeys(cluster.system, 2)
    await asyncio.gather(*(each.goes_to_review() for each in journeys))
    assert await first.terminate_backends(cluster.database) > 0
    await asyncio.gather(*(each.confirms() for each in journeys))
    await asyncio.gather(*(each.gets_invoice() for each in journeys))
    assert await second.terminate_backends(cluster.database) > 0
    await asyncio.gather(*(each.pays() for each in journeys))
    third.relay.cut()
    await asyncio.gather(*(each.gets_rupiah_sent() for each in journeys))
    assert all(each.is_running for each in cluster.replicas)
    assert (await audit(cluster, journeys)).broken == []


async def test_a_killed_leader_is_followed_when_its_lease_ends(cluster: Cluster) -> None:
    killed = await cluster.leader()
    await killed.kill()
    failed_at = await cluster.now()
    journey = await new_journey(cluster.system)
    await journey.walks()
    await cluster.leader_is_followed(killed, failed_at)
    assert (await audit(cluster, [journey])).broken == []
