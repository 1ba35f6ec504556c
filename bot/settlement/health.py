"""The service's health: whether it accepts our key and answers, and how many payout methods it lists.

`Health.record` gets each result of the client, from any part of the bot in this process. It counts them for metrics.
`operations/monitor.py` reads the health in the process that leads. The poller notices a rejected key or an outage only
while orders are open. Recording only changes memory, so callers get their answer before any alarm is raised, and after
a restart nothing is known until the first calls. Whether the service creates orders is in the rows of the orders,
because every process asks for some.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from bot.core.clock import Clock
from bot.infra.metrics import start_at_zero
from bot.settlement.errors import (
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotUnderstood,
    OrderNotFound,
    Refused,
    SettlementFailure,
    SlowDown,
    TooLate,
)

ROUTES: Final = ("quote", "payout_methods", "deposit_rails", "stats", "create_order", "order", "orders")

REQUESTS: Final = Counter(
    "kirim_settlement_requests",
    "Requests to the settlement service. `unsent` never left this machine, and `unanswered` may have arrived.",
    ["route", "result"],
)
start_at_zero(REQUESTS, ROUTES, ("2xx", "4xx", "429", "5xx", "unanswered", "unsent"))
REQUEST_SECONDS: Final = Histogram(
    "kirim_settlement_seconds",
    "How long a request took, also if it failed.",
    ["route"],
    buckets=(0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30),
)
start_at_zero(REQUEST_SECONDS, ROUTES)
BUDGET: Final = Gauge(
    "kirim_settlement_budget_per_second", "How many requests a second the bot sends at most now. It adapts to 429s."
)

FAILURES = 3
"""This many failures in a row are an outage, if they last for the tolerated time."""

REMEMBERED = timedelta(days=1)
"""A list is compared with the longest one within this time, so that shrinking in small steps is noticed too."""


class CallResults:
    """How calls of one kind ended. Failures count as an outage when they have lasted for `tolerance`."""

    def __init__(self, clock: Clock, tolerance: timedelta) -> None:
        self.failing_since: datetime | None = None
        self.last_call_at = clock.now()
        self._clock = clock
        self._tolerance = tolerance
        self._failures = 0
        self._has_succeeded = False

    @property
    def are_failing(self) -> bool | None:
        """Return whether calls have failed for too long. None if too few calls have ended to know."""
        if self.failing_since is None:
            return False if self._has_succeeded else None
        lasts = self.last_call_at - self.failing_since >= self._tolerance
        return True if lasts and self._failures >= FAILURES else None

    def record_success(self) -> None:
        """Record an answer."""
        self.last_call_at = self._clock.now()
        self.failing_since, self._failures, self._has_succeeded = None, 0, True

    def record_failure(self) -> None:
        """Record a call without a usable answer."""
        self.last_call_at = self._clock.now()
        self.failing_since = self.failing_since or self.last_call_at
        self._failures += 1


class Health:
    """How the service answered lately.

    Calls can fail for `tolerance` before it counts as an outage. `on_change` is called when the service begins to
    accept or to reject our key.
    """

    def __init__(self, clock: Clock, tolerance: timedelta, on_change: Callable[[], None] = lambda: None) -> None:
        self.is_key_accepted: bool | None = None
        self.tolerance = tolerance
        self.calls = CallResults(clock, tolerance)
        self._clock = clock
        self._on_change = on_change
        self._started_at = clock.now()
        self._lists: deque[tuple[datetime, int]] = deque()

    @property
    def methods(self) -> int | None:
        """Return the number of payout methods in the last list, or None before the first."""
        return self._lists[-1][1] if self._lists else None

    @property
    def methods_read_at(self) -> datetime:
        """Return when the list of payout methods was read last, or when this process began."""
        return self._lists[-1][0] if self._lists else self._started_at

    def find_max_methods(self, since: datetime | None) -> int:
        """Return the largest number of payout methods within a day and since that time."""
        return max((count for read_at, count in self._lists if since is None or read_at >= since), default=0)

    def record_answer(self) -> None:
        """Record an answer, which shows that the key is accepted."""
        self.calls.record_success()
        self._record_key(is_accepted=True)

    def record_rejected_key(self) -> None:
        """Record that the service answered, but rejected our key."""
        self.calls.record_success()
        self._record_key(is_accepted=False)

    def record_failure(self) -> None:
        """Record a call without a usable answer."""
        self.calls.record_failure()

    def record_methods(self, count: int) -> None:
        """Record the length of a list of payout methods."""
        now = self._clock.now()
        while self._lists and self._lists[0][0] < now - REMEMBERED:
            self._lists.popleft()
        self._lists.append((now, count))

    def record(self, route: str, result: object, seconds: float) -> None:
        """Record one request: its route, its value or `SettlementFailure`, and how long it took."""
        REQUESTS.labels(route, _describe(result)).inc()
        REQUEST_SECONDS.labels(route).observe(seconds)
        match result:
            case KeyRefused():
                self.record_rejected_key()
            case SlowDown() | TooLate():
                pass  # the service answered, but not to the question, or nothing was sent
            case SettlementFailure() if not isinstance(result, OrderNotFound | Refused):
                self.record_failure()
            case _:
                self.record_answer()
                if isinstance(result, tuple):
                    self.record_methods(len(result))

    def _record_key(self, *, is_accepted: bool) -> None:
        before, self.is_key_accepted = self.is_key_accepted, is_accepted
        if before is not is_accepted:
            self._on_change()


def _describe(result: object) -> str:
    match result:
        case NeverReached():
            return "unsent"
        case SlowDown():
            return "429"
        case NoAnswer() | NotUnderstood():
            return "unanswered"
        case SettlementFailure():
            return "5xx" if (result.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR else "4xx"
        case _:
            return "2xx"


def has_shrunk(before: int, now: int, percent: Decimal) -> bool:
    """Return whether a list of `now` rows is empty, or shorter than `before` by at least `percent`."""
    return now == 0 or (before - now) * 100 >= before * percent
