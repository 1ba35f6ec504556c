"""Limit wrong codes, for each user and for all users together, so that nobody can guess codes.

Only wrong codes count. Each user has an allowance of wrong codes, which refills one by one. All users together have an
allowance, too. Nobody is rejected for what others do. But while the common allowance is used up, a user who types a
wrong code must wait for a whole window. So an attacker with many accounts has one guess for each account and window,
and a user can still verify one receipt.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_NEVER: Final = datetime.fromtimestamp(0, UTC)
_MIN_BEFORE_CLEANUP = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """A number of wrong codes at once. They refill one by one, all of them within the `window`."""

    wrong_codes: int
    window: timedelta

    @property
    def gap(self) -> timedelta:
        """How long one wrong code takes to refill."""
        return self.window / self.wrong_codes


FOR_A_USER: Final = Allowance(10, timedelta(minutes=10))
FOR_ALL_USERS: Final = Allowance(300, timedelta(minutes=10))


class TooManyWrongCodes(Exception):
    """The user has typed too many wrong codes. They may try again at `again`, an aware time. Nothing was looked up."""

    def __init__(self, again: datetime) -> None:
        super().__init__("too many wrong codes")
        self.again = again


class WrongCodeLimiter:
    """Count the wrong codes of users, in memory. A restart doesn't help an attacker, who would need years to guess one.

    A code counts as wrong before it is looked up, so that simultaneous attempts can't all pass. If it was right,
    `refund` takes that back.
    """

    def __init__(self, for_a_user: Allowance = FOR_A_USER, for_all_users: Allowance = FOR_ALL_USERS) -> None:
        self._for_a_user = for_a_user
        self._for_all_users = for_all_users
        # The time at which an allowance is full again says how much of it is left.
        self._full_at: dict[int, datetime] = {}
        self._all_full_at = _NEVER
        self._cleanup_size = _MIN_BEFORE_CLEANUP

    def charge(self, user_id: int, now: datetime) -> timedelta:
        """Count a code as wrong, and return by how much the user's allowance is delayed.

        Raises:
            TooManyWrongCodes: the user's allowance is used up.
        """
        self._forget_full(now)
        before = max(self._full_at.get(user_id, now), now)
        again = before + self._for_a_user.gap - self._for_a_user.window
        if again > now:
            raise TooManyWrongCodes(again)
        after = (
            before + self._for_a_user.gap if self._has_common_allowance(now) else now + self._time_to_refill_slowly()
        )
        self._full_at[user_id] = after
        self._all_full_at = max(self._all_full_at, now) + self._for_all_users.gap
        return after - before

    def refund(self, user_id: int, cost: timedelta) -> None:
        """Take back what `charge` has counted: the code was right."""
        if user_id in self._full_at:
            self._full_at[user_id] -= cost
        self._all_full_at -= self._for_all_users.gap

    def _has_common_allowance(self, now: datetime) -> bool:
        return self._all_full_at + self._for_all_users.gap - self._for_all_users.window <= now

    def _time_to_refill_slowly(self) -> timedelta:
        """Return the time to refill if the first code takes a whole window and the others follow as usual."""
        return 2 * self._for_a_user.window - self._for_a_user.gap

    def _forget_full(self, now: datetime) -> None:
        if len(self._full_at) >= self._cleanup_size:
            self._full_at = {user: full_at for user, full_at in self._full_at.items() if full_at > now}
            self._cleanup_size = max(_MIN_BEFORE_CLEANUP, 2 * len(self._full_at))
