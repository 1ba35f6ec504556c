"""When a read is retried, and after how long. A POST is never retried."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.core.backoff import Backoff
from bot.settlement.client.errors import Answered

if TYPE_CHECKING:
    from bot.settlement.client.errors import SettlementError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Jittered exponential back-off.

    Attributes:
        attempts: the maximum attempts, at least 1.
        first_delay: seconds before the second attempt, before jitter; it doubles from attempt to attempt.
        longest_delay: maximum seconds between two attempts. A longer `Retry-After` ends the attempts:
            a retry is never sooner than the service asked.
        total: seconds that all attempts and pauses can take together.
    """

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 10.0
    total: float = 40.0

    def pause(self, attempt: int, error: SettlementError, chance: float, floor: float = 0.0) -> float | None:
        """Return the seconds to wait after the failed `attempt` (1 is the first), or None to give up.

        Args:
            attempt: the number of the attempt that failed.
            error: how it failed.
            chance: a random number from 0 to 1; spreads the pause over half to all of its length.
            floor: minimum seconds between two attempts.
        """
        if not error.transient or attempt >= self.attempts:
            return None
        backed_off = Backoff(self.first_delay, self.longest_delay).after(attempt) * (0.5 + chance / 2)
        requested = retry_after_of(error)
        if requested > self.longest_delay:
            return None
        return max(backed_off, floor, requested + self.first_delay * chance if requested else 0.0)


def retry_after_of(error: SettlementError) -> float:
    """Return the seconds that the service asked to wait, or 0."""
    return (error.retry_after or 0.0) if isinstance(error, Answered) else 0.0


def parse_http_date(text: str | None) -> datetime | None:
    """Return an HTTP date as aware UTC, or None if it isn't one."""
    if not text:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds from `now` (the service's clock, if known) that a `Retry-After` header asks for, 0 or more.

    The header is a number of seconds or an HTTP date. Return None if it is absent or neither.
    """
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text.strip()[:9])
    moment = parse_http_date(text)
    return None if moment is None else max(0.0, (moment - now).total_seconds())
