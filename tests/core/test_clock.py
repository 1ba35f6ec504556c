"""Time limits hold although the machine sleeps, a virtual machine is stopped, or the time of day is set."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.clock import Deadline

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LONGEST = timedelta(seconds=15)


@dataclass
class Machine:
    """A machine with a time of day and a monotonic clock."""

    at: datetime = NOON
    uptime: float = 1000.0

    def now(self) -> datetime:
        return self.at

    def seconds(self) -> float:
        return self.uptime

    def passes(self, *, of_day: float, uptime: float) -> None:
        self.at += timedelta(seconds=of_day)
        self.uptime += uptime


@pytest.mark.parametrize(
    ("of_day", "uptime", "is_ahead"),
    [
        pytest.param(14.9, 14.9, True, id="in time"),
        pytest.param(15, 15, False, id="its moment"),
        pytest.param(42, 42, False, id="frozen, or the machine slept"),
        pytest.param(-60, 42, False, id="frozen, and set back meanwhile"),
        pytest.param(42, 0.1, False, id="a virtual machine was stopped"),
        pytest.param(-60, 0.1, True, id="only set back"),
        pytest.param(-60, 14.9, True, id="set back, in time"),
        pytest.param(300, 0.1, False, id="set forward: rather too early than too late"),
    ],
)
def test_a_deadline_has_passed_as_soon_as_one_clock_says_so(of_day: float, uptime: float, *, is_ahead: bool) -> None:
    machine = Machine()
    deadline = Deadline.create(NOON + LONGEST, machine, machine.seconds, LONGEST)
    machine.passes(of_day=of_day, uptime=uptime)
    assert deadline.is_ahead() is is_ahead


def test_a_stop_while_a_deadline_is_created_makes_it_shorter() -> None:
    machine = Machine()

    def read_and_stop() -> float:
        before = machine.uptime
        machine.passes(of_day=10, uptime=10)
        return before

    deadline = Deadline.create(NOON + LONGEST, machine, read_and_stop, LONGEST)
    assert deadline.ends_at == 1005.0
