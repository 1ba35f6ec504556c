"""The limit on wrong codes, for each user and for all of them together, so that nobody can guess codes.

Only wrong codes count. A user may type a number of them at once, and gets one of these back at a time. All users
together have such an allowance, too. But nobody is rejected for what others do: while the common allowance is used up,
a user who types a wrong code must wait for a whole window. So an attacker with many accounts has one guess for each
account and window, and a user who wants to check one receipt can still do so.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_LONG_AGO: Final = datetime.fromtimestamp(0, UTC)
_FEW = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many wrong codes at once. They come back one by one, all of them within the `window`."""

    wrong_codes: int
    window: timedelta

    @property
    def gap(self) -> timedelta:
        """How long one of them takes to come back."""
        return self.window / self.wrong_codes


FOR_A_USER: Final = Allowance(10, timedelta(minutes=10))
FOR_ALL_USERS: Final = Allowance(300, timedelta(minutes=10))


class TooManyWrongCodes(Exception):
    """The user may type a code again at `again`, an aware time. Nothing was looked up."""

    def __init__(self, again: datetime) -> None:
        super().__init__("too many wrong codes")
        self.again = again


class WrongCodeLimiter:
    """Count the wrong codes of users, in memory: who would need years to guess one gains nothing by a restart.

    A code counts as wrong before it is looked up, so that many at the same time don't pass together. If it was right,
    `refund` takes that back.
    """

    def __init__(self, for_a_user: Allowance = FOR_A_USER, for_all_users: Allowance = FOR_ALL_USERS) -> None:
        self._for_a_user = for_a_user
        self._for_all_users = for_all_users
        # The time when an allowance is whole again says how much of it is left.
        self._whole_at: dict[int, datetime] = {}
        self._all_whole_at = _LONG_AGO
        self._forget_from = _FEW

    def charge(self, user_id: int, now: datetime) -> timedelta:
        """Count a code as wrong, and return what that cost.

        Raises:
            TooManyWrongCodes: the user has none left.
        """
        self._forget_whole(now)
        before = max(self._whole_at.get(user_id, now), now)
        again = before + self._for_a_user.gap - self._for_a_user.window
        if again > now:
            raise TooManyWrongCodes(again)
        after = before + self._for_a_user.gap if self._is_calm(now) else now + self._until_whole_from_none()
        self._whole_at[user_id] = after
        self._all_whole_at = max(self._all_whole_at, now) + self._for_all_users.gap
        return after - before

    def refund(self, user_id: int, cost: timedelta) -> None:
        """Take back what `charge` has counted: the code was right."""
        if user_id in self._whole_at:
            self._whole_at[user_id] -= cost
        self._all_whole_at -= self._for_all_users.gap

    def _is_calm(self, now: datetime) -> bool:
        return self._all_whole_at + self._for_all_users.gap - self._for_all_users.window <= now

    def _until_whole_from_none(self) -> timedelta:
        """Return a whole window until there is one code again, and the time for the others after that."""
        return 2 * self._for_a_user.window - self._for_a_user.gap

    def _forget_whole(self, now: datetime) -> None:
        if len(self._whole_at) >= self._forget_from:
            self._whole_at = {user: whole for user, whole in self._whole_at.items() if whole > now}
            self._forget_from = max(_FEW, 2 * len(self._whole_at))
