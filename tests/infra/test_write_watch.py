"""A process ends if PostgreSQL takes the writes of new sessions but not its own, and only then."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from prometheus_client import REGISTRY

from bot.infra import watchdog
from bot.infra.db.errors import StoreDown
from bot.infra.watchdog import STUCK_SECONDS, TRY_SECONDS, ProcessState, watch_writes

if TYPE_CHECKING:
    from bot.infra.db.database import Database

HOUR = 3600.0


class Hour:
    """An hour of a process, and a database whose writes succeed as a test says."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        self.works, self.works_in_new_session = True, True
        self.has_unsaved, self.standstill = False, 0.0
        self.back_at, self.saved_at = HOUR, HOUR
        patch.setattr(watchdog, "time", SimpleNamespace(monotonic=lambda: self.seconds))
        patch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=self._sleep))
        self.state = ProcessState()

    async def can_write(self, *, in_new_session: bool = False) -> bool:
        return self.works_in_new_session if in_new_session else self.works or self.seconds >= self.back_at

    def _has_unsaved(self) -> bool:
        return self.has_unsaved and self.seconds < self.saved_at

    async def _sleep(self, seconds: float) -> None:
        self.seconds += seconds + self.standstill
        self.standstill = 0.0
        if self.seconds >= HOUR:
            raise TimeoutError

    async def ends_at(self) -> float:
        """Return when the process ends. It is `HOUR` if it doesn't."""
        with pytest.raises((StoreDown, TimeoutError)):
            await watch_writes(cast("Database", self), self.state, self._has_unsaved)
        return self.seconds


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch) -> Hour:
    return Hour(monkeypatch)


async def test_a_process_ends_after_a_minute_in_which_only_new_sessions_write(hour: Hour) -> None:
    hour.works = False
    assert await hour.ends_at() == TRY_SECONDS + STUCK_SECONDS
    assert not hour.state.can_write
    assert REGISTRY.get_sample_value("kirim_database_unwritable_seconds") == STUCK_SECONDS


async def test_a_process_waits_as_long_as_nobody_can_write(hour: Hour) -> None:
    hour.works = hour.works_in_new_session = False
    assert await hour.ends_at() == HOUR


async def test_a_process_does_not_end_before_an_answer_is_saved(hour: Hour) -> None:
    hour.works, hour.has_unsaved, hour.saved_at = False, True, 600
    assert await hour.ends_at() == 600


async def test_a_failure_after_a_standstill_of_the_machine_is_no_minute_of_failures(hour: Hour) -> None:
    hour.works, hour.standstill, hour.back_at = False, 600, 600 + 3 * TRY_SECONDS
    assert await hour.ends_at() == HOUR
