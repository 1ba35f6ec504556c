"""The clocks, and the interface that tests replace."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, Self


class Clock(Protocol):
    """Give the current time. Tests use a virtual clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)


def _find_clock_with_sleep() -> int | None:
    """Return the system's monotonic clock that goes on while the machine sleeps, or None if it has none.

    On Linux, `time.monotonic` stands still while the machine sleeps.
    """
    if sys.platform == "darwin":
        return time.CLOCK_MONOTONIC  # unlike Python's own
    found: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return found


_CLOCK_WITH_SLEEP: Final = _find_clock_with_sleep()


def seconds_with_sleep() -> float:
    """Return monotonic seconds that go on while the machine sleeps, where the system has such a clock.

    Time limits that other processes rely on count by it: they don't wait for a machine that sleeps.
    """
    return time.monotonic() if _CLOCK_WITH_SLEEP is None else time.clock_gettime(_CLOCK_WITH_SLEEP)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by two clocks. It has passed as soon as one of them says so.

    The time of day can be set back. Monotonic seconds stand still while a virtual machine is stopped.

    Attributes:
        clock: the time of day.
        at: the moment by it.
        seconds: a monotonic clock.
        ends_at: the moment by that one.
    """

    clock: Clock
    at: datetime
    seconds: Callable[[], float]
    ends_at: float

    @classmethod
    def create(cls, at: datetime, clock: Clock, seconds: Callable[[], float], longest: timedelta) -> Self:
        """Return the deadline of a moment that is at most `longest` ahead, even if the time of day was set back."""
        began = seconds()  # first, so that a stop between the two makes the time shorter
        return cls(clock, at, seconds, began + min(at - clock.now(), longest).total_seconds())

    def is_ahead(self) -> bool:
        """Return whether the moment is still to come."""
        return self.seconds() < self.ends_at and self.clock.now() < self.at
