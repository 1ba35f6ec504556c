"""The time, as it is."""

from datetime import UTC, datetime


class SystemClock:
    """The machine's time (a `Clock`)."""

    def now(self) -> datetime:
        """Aware, in UTC."""
        return datetime.now(UTC)
