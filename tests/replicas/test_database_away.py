"""PostgreSQL is away for a minute, while an answer of the service waits to be saved."""

import asyncio

import pytest

from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster
from tests.replicas.journeys import new_journey

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

AWAY_SECONDS = 60.0


async def test_an_answer_of_the_service_is_saved_after_the_database_was_away_for_a_minute(cluster: Cluster) -> None:
    journey = await new_journey(cluster.system)
    replica = await cluster.has_unsaved_answer(journey)
    await asyncio.sleep(AWAY_SECONDS)
    replica.relay.resume()
    await journey.goes_on_from_confirmation()
    assert replica.is_running
    assert len(replica.starts) == 1
    assert (await audit(cluster, [journey])).broken == []
