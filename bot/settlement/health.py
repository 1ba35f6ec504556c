"""What the service's answers say of the service: whether it takes our key, answers at all, and what it lists.

Heard by `MonitoredSettlement` at each call, read by `operations/monitor.py`. In memory alone: after a restart nothing
is known until something has been heard.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from bot.core.clock import Clock

FAILURES = 3
"""So many in a row are no accident any more, if they go on for a while."""

REMEMBERED = timedelta(days=1)
"""A list is compared with the longest of the last day: one that shrinks in two steps has shrunk as well."""

SAYS_SOMETHING = timedelta(hours=1)
"""Nobody may wish to order for long: what became of the last orders tells nothing of the service after that."""


class Answers:
    """How calls of one sort end. They may fail for as long as `tolerance` before that means anything."""

    def __init__(self, clock: Clock, tolerance: timedelta) -> None:
        self.failing_since: datetime | None = None
        self.heard_at = clock.now()
        self._clock = clock
        self._tolerance = tolerance
        self._failures = 0
        self._has_come = False

    @property
    def are_lacking(self) -> bool | None:
        """Whether calls have failed again and again for too long; None as long as that can't be said."""
        if self.failing_since is None:
            return False if self._has_come else None
        lasts = self.heard_at - self.failing_since >= self._tolerance
        return True if lasts and self._failures >= FAILURES else None

    def came(self) -> None:
        """One came."""
        self.heard_at = self._clock.now()
        self.failing_since, self._failures, self._has_come = None, 0, True

    def failed(self) -> None:
        """None came that could be used."""
        self.heard_at = self._clock.now()
        self.failing_since = self.failing_since or self.heard_at
        self._failures += 1


class Health:
    """`tolerance` is how long calls may fail before that means anything. `on_change` hears of the key at once."""

    def __init__(self, clock: Clock, tolerance: timedelta, on_change: Callable[[], None] = lambda: None) -> None:
        self.key_is_taken: bool | None = None
        self.answers = Answers(clock, tolerance)
        self._of_orders = Answers(clock, tolerance)
        self._clock = clock
        self._on_change = on_change
        self._lists: deque[tuple[datetime, int]] = deque()

    @property
    def no_orders_since(self) -> datetime | None:
        """Since when no order could be made, though several were wished for and other questions may be answered."""
        lately = self._clock.now() - self._of_orders.heard_at < SAYS_SOMETHING
        return self._of_orders.failing_since if lately and self._of_orders.are_lacking else None

    @property
    def methods(self) -> int | None:
        """How many payout methods there were last; None where no list has come yet."""
        return self._lists[-1][1] if self._lists else None

    @property
    def most_methods(self) -> int:
        """How many there were at the most, within a day."""
        return max((count for _, count in self._lists), default=0)

    def answered(self, *, placing: bool = False) -> None:
        """Note an answer to a call. It shows that the key is accepted; `placing` is the call that creates an order."""
        self._reached(placing=placing)
        self._hear_of_key(is_taken=True)

    def refused(self) -> None:
        """Note that the service answered, but refused our key."""
        self._reached(placing=True)
        self._hear_of_key(is_taken=False)

    def failed(self, *, placing: bool = False) -> None:
        """Note that a call brought nothing usable."""
        self.answers.failed()
        if placing:
            self._of_orders.failed()

    def listed(self, count: int) -> None:
        """Note the length of a list of payout methods."""
        now = self._clock.now()
        while self._lists and self._lists[0][0] < now - REMEMBERED:
            self._lists.popleft()
        self._lists.append((now, count))

    def accept_methods(self) -> None:
        """From now on, the list as it is counts as whole."""
        while len(self._lists) > 1:
            self._lists.popleft()

    def _reached(self, *, placing: bool) -> None:
        self.answers.came()
        if placing:
            self._of_orders.came()

    def _hear_of_key(self, *, is_taken: bool) -> None:
        before, self.key_is_taken = self.key_is_taken, is_taken
        if before is not is_taken:
            self._on_change()


def has_shrunk(before: int, now: int, percent: Decimal) -> bool:
    """Whether a list is empty, or shorter by at least `percent` of what it was."""
    return now == 0 or (before - now) * 100 >= before * percent
