"""The time, and what stands for it in tests."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """The time now, aware, in UTC."""
        ...


class SystemClock:
    """The machine's time (a `Clock`)."""

    def now(self) -> datetime:
        """Aware, in UTC."""
        return datetime.now(UTC)
