"""PostgreSQL is away for a while, or only takes reads: processes go on when it takes writes again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import make_url

from bot.process import WORKER_ENDED
from tests.e2e.chat_user import NotSeen
from tests.e2e.faults import hold_service
from tests.e2e.launcher import BOT
from tests.replicas.audit import audit
from tests.replicas.bots import UNRENEWING
from tests.replicas.cluster import ANSWERED_AFTER, Cluster, running_cluster
from tests.replicas.journeys import new_journey
from tests.replicas.relay import HOST
from tests.replicas.replica import Replica
from tests.waiting import found

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

AWAY_SECONDS = 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting_cluster(cluster_database: str, folder: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(folder, cluster_database, replicas=1) as made:
        yield made


@asynccontextmanager
async def only_reads(cluster: Cluster) -> AsyncIterator[None]:
    """Let new sessions only read within the block, and end the others."""
    name = make_url(cluster.database).database
    await cluster.query(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        await cluster.replicas[0].terminate_backends(cluster.database)
        yield
    finally:
        await cluster.query(f"ALTER DATABASE {name} RESET default_transaction_read_only")


async def measure_unwritable(replica: Replica) -> float:
    """Return for how long the process couldn't write, as its metrics say."""
    async with httpx.AsyncClient() as http:
        text = (await http.get(f"http://{HOST}:{replica.environment['METRICS_PORT']}/metrics")).text
    (line,) = [each for each in text.splitlines() if each.startswith("kirim_database_unwritable_seconds ")]
    return float(line.split()[1])


async def test_an_answer_of_the_service_is_saved_after_the_database_was_away_for_a_minute(cluster: Cluster) -> None:
    journey = await new_journey(cluster.system)
    replica = await cluster.has_unsaved_answer(journey)
    await asyncio.sleep(AWAY_SECONDS)
    replica.relay.resume()
    await journey.goes_on_from_confirmation()
    assert replica.is_running
    assert len(replica.starts) == 1
    assert (await audit(cluster, [journey])).broken == []


async def test_a_process_writes_again_when_the_server_does(cluster: Cluster) -> None:
    (replica,) = cluster.replicas
    journey = await new_journey(cluster.system)
    async with only_reads(cluster):
        await cluster.becomes_ready(replica, ready=False)
        await journey.chat.says("/send")
        await found(lambda: measure_unwritable(replica), bool, what="the metric")
    await journey.walks()
    await cluster.becomes_ready(replica, ready=True)
    assert await measure_unwritable(replica) == 0
    assert replica.is_running
    assert len(replica.starts) == 1
    assert (await audit(cluster, [journey])).broken == []


async def test_a_process_ends_if_only_new_sessions_can_write(cluster: Cluster) -> None:
    (replica,) = cluster.replicas
    await replica.stop()
    await replica.start(UNRENEWING)
    async with only_reads(cluster):
        await found(lambda: measure_unwritable(replica), lambda seconds: seconds > 2, what="more than its minute")
        assert replica.is_running, "no session can write, so another process couldn't either"
    assert await replica.ended() == WORKER_ENDED
    assert replica.lines("worker_ended")[-1]["worker"] == "database-writes"
    await replica.start(BOT)
    journey = await new_journey(cluster.system)
    await journey.walks()


async def test_a_process_never_ends_while_an_answer_of_the_service_waits_to_be_saved(cluster: Cluster) -> None:
    (replica,) = cluster.replicas
    await replica.stop()
    await replica.start(UNRENEWING)
    journey = await new_journey(cluster.system)
    await journey.goes_to_review()
    async with hold_service(cluster.system, "delay_after", seconds=ANSWERED_AFTER):
        await journey.confirms(wait=0)
    async with only_reads(cluster):
        await cluster.tries_to_save_answer(replica, journey)
    assert await measure_unwritable(replica) > 0
    await found(lambda: measure_unwritable(replica), lambda seconds: seconds > 3, what="more than its minute")
    assert replica.is_running
    await replica.terminate_backends(cluster.database)  # now its sessions are new, too
    try:
        await journey.gets_invoice()
    except NotSeen as error:
        unwritable, last = await measure_unwritable(replica), replica.lines()[-8:]
        raise AssertionError(f"no writes for {unwritable} s; the log ends with {last}") from error
    assert replica.is_running
    assert (await audit(cluster, [journey])).broken == []
