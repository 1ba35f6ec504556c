"""How often somebody may be wrong: guessing codes is kept slow, for each person and for all of them together.

Only misses count. Everybody may miss a number of times at once, and gets one of these back at a time. What all persons
miss together has such an allowance, too, but nobody is turned away for what others do: as long as it is used up, who
misses may not guess again for a whole window. So an attacker with many accounts is slowed down to one guess an account
and window, and who wants one receipt looked up, and hasn't missed lately, is served meanwhile.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_LONG_AGO: Final = datetime.fromtimestamp(0, UTC)
_FEW = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """`misses` at once; each comes back by itself, all of them within the `window`."""

    misses: int
    window: timedelta

    @property
    def gap(self) -> timedelta:
        """How long one miss takes to come back."""
        return self.window / self.misses


A_PERSON: Final = Allowance(10, timedelta(minutes=10))
EVERYBODY: Final = Allowance(300, timedelta(minutes=10))


class TooManyMisses(Exception):
    """This person may guess again at `again`, aware; nothing was looked up."""

    def __init__(self, again: datetime) -> None:
        super().__init__("too many misses")
        self.again = again


class Guesses:
    """Who has missed how often. In memory: a restart forgives everybody, which is no help to who needs years.

    A guess is charged as a miss before it is looked up, so that many at the same time can't all come through, and
    refunded where it wasn't one.
    """

    def __init__(self, a_person: Allowance = A_PERSON, everybody: Allowance = EVERYBODY) -> None:
        self._a_person = a_person
        self._everybody = everybody
        # When an allowance is whole again says it all: how much of it is left is how near that is.
        self._whole_at: dict[int, datetime] = {}
        self._all_whole_at = _LONG_AGO
        self._forget_from = _FEW

    def charge(self, person_id: int, now: datetime) -> timedelta:
        """Count a guess as missed; what it cost, to be refunded if it's right.

        Raises:
            TooManyMisses: this person has none left.
        """
        self._forget_rested(now)
        before = max(self._whole_at.get(person_id, now), now)
        again = before + self._a_person.gap - self._a_person.window
        if again > now:
            raise TooManyMisses(again)
        after = before + self._a_person.gap if self._is_calm(now) else now + self._until_whole_from_none()
        self._whole_at[person_id] = after
        self._all_whole_at = max(self._all_whole_at, now) + self._everybody.gap
        return after - before

    def refund(self, person_id: int, cost: timedelta) -> None:
        """It was no miss."""
        if person_id in self._whole_at:
            self._whole_at[person_id] -= cost
        self._all_whole_at -= self._everybody.gap

    def _is_calm(self, now: datetime) -> bool:
        return self._all_whole_at + self._everybody.gap - self._everybody.window <= now

    def _until_whole_from_none(self) -> timedelta:
        """A window until there is one guess again, and from then on as always."""
        return 2 * self._a_person.window - self._a_person.gap

    def _forget_rested(self, now: datetime) -> None:
        if len(self._whole_at) >= self._forget_from:
            self._whole_at = {person: whole for person, whole in self._whole_at.items() if whole > now}
            self._forget_from = max(_FEW, 2 * len(self._whole_at))
