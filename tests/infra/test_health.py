"""`/livez`, `/readyz` and `/healthz`: what each of them needs to be well."""

from typing import TYPE_CHECKING, cast

import httpx
import pytest

from bot.infra.db.errors import StoreDown
from bot.infra.http.health import Health, create_health_app
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState

if TYPE_CHECKING:
    from bot.infra.db.database import Database

GOOD = (200, 200, 200)


class FakeDatabase:
    """A database in the state that a test sets."""

    def __init__(self) -> None:
        self.is_current, self.is_down = True, False

    async def has_usable_tables(self) -> bool:
        if self.is_down:
            raise StoreDown
        return self.is_current


class Watched:
    """A process that others watch."""

    def __init__(self) -> None:
        self.database, self.lag = FakeDatabase(), LoopLag()
        self.state = ProcessState(are_workers_alive=lambda: True, are_leases_kept=lambda: True)

    async def statuses(self) -> tuple[int, ...]:
        """Return the statuses of `/livez`, `/readyz` and `/healthz`."""
        health = Health(cast("Database", self.database), self.state, self.lag)
        transport = httpx.ASGITransport(create_health_app(health))
        async with httpx.AsyncClient(transport=transport, base_url="http://bot.example") as browser:
            return tuple([(await browser.get(path)).status_code for path in ("/livez", "/readyz", "/healthz")])


@pytest.fixture
def watched() -> Watched:
    return Watched()


async def test_a_process_that_works_is_live_and_ready(watched: Watched) -> None:
    assert await watched.statuses() == GOOD


async def test_a_standby_is_live_and_not_ready(watched: Watched) -> None:
    watched.state = ProcessState()
    assert await watched.statuses() == (200, 503, 503)


async def test_without_the_lead_it_is_not_ready(watched: Watched) -> None:
    watched.state.are_leases_kept = lambda: False
    assert await watched.statuses() == (200, 503, 200)


async def test_without_its_database_it_is_live_only(watched: Watched) -> None:
    watched.database.is_down = True
    assert await watched.statuses() == (200, 503, 503)


async def test_tables_of_another_version_are_not_ready(watched: Watched) -> None:
    watched.database.is_current = False
    assert await watched.statuses() == (200, 503, 200)


async def test_one_that_stops_is_not_ready(watched: Watched) -> None:
    watched.state.is_stopping = True
    assert await watched.statuses() == (200, 503, 200)


async def test_a_worker_that_ended_makes_it_unwell(watched: Watched) -> None:
    watched.state.are_workers_alive = lambda: False
    assert await watched.statuses() == (200, 503, 503)


async def test_a_loop_that_was_blocked_for_five_seconds_is_not_live(watched: Watched) -> None:
    watched.lag._latest = 5.0
    assert await watched.statuses() == (503, 200, 200)
