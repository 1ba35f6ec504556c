"""One version with one set of keys works at a time. Upgrades and key rotations lose nothing, and double nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from bot.infra.db.vault import generate_key
from bot.process import WORKER_ENDED
from tests.e2e.launcher import BOT
from tests.e2e.programs import run_program
from tests.infra.keys import name_of
from tests.replicas.audit import audit
from tests.replicas.bots import NEXT_VERSION
from tests.replicas.cluster import Cluster, replace, running_cluster
from tests.replicas.journeys import Journey, new_journey
from tests.replicas.replica import Replica
from tests.waiting import found

pytestmark = [pytest.mark.process, pytest.mark.asyncio]

OLD, NEW = generate_key(), generate_key()
BAD_SETTINGS = 2
PEOPLE, AT_ONCE = 40, 8
AWAY_SECONDS = 20.0
"""Longer than a record lasts, and shorter than the time after which others search for an order without an answer."""

TAKEN_OVER_SECONDS = 2.0

ORDER = "SELECT reference, phase, service_id FROM orders WHERE user_id = $1"

Start = Callable[..., AbstractAsyncContextManager[Cluster]]


@pytest.fixture
def running(tmp_path: Path, own_database: str) -> Start:
    return partial(running_cluster, tmp_path, own_database, ENCRYPTION_KEYS=OLD)


async def stands_by(cluster: Cluster, replica: Replica) -> None:
    """Wait until a replica waits for others. Its pages and its log say why."""

    async def reasons() -> list[str]:
        return [line["reason"] for line in replica.lines("standby_started")]

    (reason,) = await found(reasons, bool, what=f"{replica.name} waits")
    assert await cluster.shows(replica, "livez", 200)
    assert reason in (await cluster.shows(replica, "readyz", 503)).values()


async def test_other_keys_wait_for_the_end_of_all_others(running: Start) -> None:
    keys = f"{NEW},{OLD}"
    async with running() as cluster:
        *replaced, last = cluster.replicas
        for each in replaced:
            assert await each.stop() == 0
            await each.begin(ENCRYPTION_KEYS=keys)
            await stands_by(cluster, each)
        before, after = await new_journey(cluster.system), await new_journey(cluster.system)
        await before.goes_to_review()
        assert not any(each.telegram.calls or each.lines("bot_started")[1:] for each in replaced)
        assert await last.stop() == 0
        ended_at = time.monotonic()
        await found(cluster.living, bool, what="another process has taken over")
        assert time.monotonic() - ended_at < TAKEN_OVER_SECONDS
        await asyncio.gather(*(each.works() for each in replaced))
        await last.start(ENCRYPTION_KEYS=keys)
        await asyncio.gather(before.goes_on_from_review(), after.walks())
        assert (await audit(cluster, [before, after])).broken == []


async def test_a_mistyped_key_is_refused_by_name_and_changes_nothing(running: Start) -> None:
    async with running(replicas=2) as cluster:
        mistyped, other = cluster.replicas
        journey = await new_journey(cluster.system)
        await journey.walks()
        assert await mistyped.stop() == 0
        assert name_of(OLD) in await is_refused(mistyped, NEW), "also beside a process that works"
        assert await other.stop() == 0
        before = await cluster.contents()
        assert name_of(OLD) in await is_refused(mistyped, NEW)
        assert await cluster.contents() == before
        await mistyped.start(ENCRYPTION_KEYS=OLD)
        assert (await audit(cluster, [journey])).broken == []


async def is_refused(replica: Replica, keys: str) -> str:
    """Start a replica whose keys don't fit, and return its last words."""
    await replica.begin(ENCRYPTION_KEYS=keys)
    assert await replica.ended() == BAD_SETTINGS
    last = replica.log.read_text().splitlines()[-1]
    assert "ENCRYPTION_KEYS" in last
    return last


@pytest.mark.parametrize(
    ("is_frozen", "program", "is_rotated"),
    [(False, BOT, False), (True, BOT, True), (True, NEXT_VERSION, False)],
    ids=["cut off until there is a new key", "frozen until its key is dropped", "frozen until an upgrade"],
)
async def test_a_process_that_was_away_does_nothing_more_after_version_or_keys_were_changed(
    running: Start, tmp_path: Path, *, is_frozen: bool, program: str, is_rotated: bool
) -> None:
    async with running() as cluster:
        journey, other = await new_journey(cluster.system), await new_journey(cluster.system)
        await other.goes_to_review()
        away = await cluster.has_unsaved_answer(journey)
        if is_frozen:
            away.freeze()
        until_back = asyncio.create_task(asyncio.sleep(AWAY_SECONDS))
        others = [each for each in cluster.replicas if each is not away]
        await replace(others, program, ENCRYPTION_KEYS=f"{NEW},{OLD}")
        if is_rotated:
            assert (await run_program(tmp_path, "rotate-keys", environment=others[0].environment)).code == 0
        await until_back
        calls, back_at = len(away.telegram.calls), await cluster.now()
        (before,) = await cluster.query(ORDER, journey.chat.id)
        away.relay.resume()
        away.thaw()
        assert await away.ended() == WORKER_ENDED
        # An answer that the others couldn't read isn't saved. They find the order in the service's list.
        (after,) = await cluster.query(ORDER, journey.chat.id)
        lost = [line["order"] for line in away.lines("order_result_not_saved")]
        is_too_late = before["phase"] != "intended"  # on a busy machine
        assert lost == ([after["reference"]] if is_rotated or program is NEXT_VERSION or is_too_late else [])
        assert bool(lost) is (after["service_id"] is None)
        await asyncio.gather(journey.goes_on_from_confirmation(), other.goes_on_from_review())
        found = await audit(cluster, [journey, other])
        assert found.broken == []
        assert away.telegram.calls[calls:] == []
        late = [work for work in found.recorded.history.work if work.at > back_at]
        assert not any(work.backend in away.starts[-1] for work in late)


@asynccontextmanager
async def ordering(cluster: Cluster, people: int) -> AsyncIterator[list[Journey]]:
    """Let users order without pause within the block, and until there were so many."""
    journeys: list[Journey] = []
    is_over = asyncio.Event()

    async def order() -> None:
        while not is_over.is_set() or len(journeys) < people:
            journeys.append(await new_journey(cluster.system, is_typing_ahead=len(journeys) % 2 == 1))
            await journeys[-1].walks()

    users = asyncio.gather(*(order() for _ in range(AT_ONCE)))
    try:
        yield journeys
    finally:
        is_over.set()
        await users


async def test_an_upgrade_and_a_key_rotation_lose_nothing_and_double_nothing(running: Start, tmp_path: Path) -> None:
    async with running() as cluster:
        replicas, both = cluster.replicas, f"{NEW},{OLD}"
        async with ordering(cluster, PEOPLE) as journeys:
            environment = replicas[0].environment | {"ENCRYPTION_KEYS": both}
            refused = await run_program(tmp_path, "rotate-keys", environment=environment)
            assert refused.code == 1, "the processes don't know its first key"
            await replace(replicas, ENCRYPTION_KEYS=both)
            rotated = await run_program(tmp_path, "rotate-keys", environment=replicas[0].environment)
            assert rotated.code == 0, rotated
            assert "You can remove the older keys from ENCRYPTION_KEYS" in rotated.out
            await replace(replicas, ENCRYPTION_KEYS=NEW)
            await replace(replicas, NEXT_VERSION)
            last = await new_journey(cluster.system)
            await last.walks()
        assert (await audit(cluster, [*journeys, last])).broken == []
