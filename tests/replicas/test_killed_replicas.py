"""A replica that is killed while it reports a payment. Other failures are those of `test_chaos.py`."""

import pytest

from tests.e2e.faults import calls_of, clear_faults, hold_call
from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster
from tests.replicas.journeys import PAID, check_chat, new_journey
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
