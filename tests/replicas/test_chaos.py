"""Many people order while replicas fail in many ways at once, and are stopped and started."""

from pathlib import Path

import pytest

from tests.replicas.soak import find_broken, soak

pytestmark = [pytest.mark.process, pytest.mark.asyncio]

SEED = 28
MINUTES, PEOPLE, AT_ONCE, READERS = 0.5, 20, 8, 60


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
