"""`/livez`, `/readyz` and `/healthz`: what each of them needs to be well."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import httpx
import pytest

from bot.infra.db.errors import StoreDown
from bot.infra.http.health import Health, create_health_app
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState

if TYPE_CHECKING:
    from bot.infra.db.database import Database


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


def stand_by(watched: Watched) -> None:
    watched.state = ProcessState()


@pytest.mark.parametrize(
    ("change", "statuses"),
    [
        pytest.param(lambda _: None, (200, 200, 200), id="a process that works"),
        pytest.param(stand_by, (200, 503, 503), id="a standby"),
        pytest.param(lambda it: setattr(it.state, "are_leases_kept", lambda: False), (200, 503, 200), id="no lead"),
        pytest.param(lambda it: setattr(it.database, "is_down", True), (200, 503, 503), id="no database"),
        pytest.param(lambda it: setattr(it.database, "is_current", False), (200, 503, 200), id="another version"),
        pytest.param(lambda it: setattr(it.state, "is_stopping", True), (200, 503, 200), id="one that stops"),
        pytest.param(lambda it: setattr(it.state, "are_workers_alive", lambda: False), (200, 503, 503), id="no worker"),
        pytest.param(lambda it: setattr(it.lag, "_latest", 5.0), (503, 200, 200), id="a loop that is blocked"),
    ],
)
async def test_each_page_says_whether_the_process_is_well(
    change: Callable[[Watched], None], statuses: tuple[int, ...]
) -> None:
    watched = Watched()
    change(watched)
    assert await watched.statuses() == statuses
