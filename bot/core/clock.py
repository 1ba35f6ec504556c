"""The clock, and the interface that tests replace."""

from datetime import UTC, datetime
from typing import Protocol


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
