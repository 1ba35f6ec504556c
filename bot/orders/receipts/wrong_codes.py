"""Limit wrong codes, for each user and for all users together, so that nobody can guess codes.

Only wrong codes count. Each user has an allowance of wrong codes, which refills one by one. All users together have an
allowance, too. Nobody is rejected for what others do. But while the common allowance is used up, a user who types a
wrong code must wait for a whole window. So an attacker with many accounts has one guess for each account and window,
and a user can still verify one receipt.

The allowances are rows (`wrong_code_repository.py`), so all processes count together.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final


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


@dataclass(frozen=True, slots=True)
class Refills:
    """When the allowance of a user and that of all users are full again. That says how much of each is left."""

    user_full_at: datetime
    all_full_at: datetime


@dataclass(frozen=True, slots=True)
class WrongCodeLimits:
    """The two allowances."""

    for_a_user: Allowance = FOR_A_USER
    for_all_users: Allowance = FOR_ALL_USERS

    def charge(self, before: Refills, now: datetime) -> Refills:
        """Return what is left after one more wrong code.

        Raises:
            TooManyWrongCodes: the user's allowance is used up.
        """
        user_full_at, all_full_at = max(before.user_full_at, now), max(before.all_full_at, now)
        again = user_full_at + self.for_a_user.gap - self.for_a_user.window
        if again > now:
            raise TooManyWrongCodes(again)
        has_common_allowance = all_full_at + self.for_all_users.gap - self.for_all_users.window <= now
        return Refills(
            user_full_at + self.for_a_user.gap if has_common_allowance else now + self._time_to_refill_slowly(),
            all_full_at + self.for_all_users.gap,
        )

    def _time_to_refill_slowly(self) -> timedelta:
        """Return the time to refill if the first code takes a whole window and the others follow as usual."""
        return 2 * self.for_a_user.window - self.for_a_user.gap


USUAL_LIMITS: Final = WrongCodeLimits()
