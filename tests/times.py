"""The moments that the tests share."""

from datetime import UTC, datetime, timedelta
from typing import Final

NOW: Final = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
"""When the stored values of the tests were made. Its microseconds show that a database keeps them."""

SECOND: Final = timedelta(seconds=1)
DAY: Final = timedelta(days=1)
