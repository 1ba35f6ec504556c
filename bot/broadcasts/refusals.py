"""Whom Telegram has refused for the frequency (429): put off while others are left, and given up in the end."""

from dataclasses import dataclass

HOPELESS_AFTER, HOPELESS_ALONE = 3, 12
"""Refusals of one person while others were reached in between, and in all: nothing waits for them for ever."""


@dataclass(slots=True)
class _Refused:
    """How often: in all, and while others were reached; how many those were the last time."""

    in_all: int = 0
    alone: int = 0
    reached: int = -1


class Refusals:
    """Tells a storm, in which everybody is refused, from one chat that is."""

    def __init__(self) -> None:
        self._of: dict[int, _Refused] = {}
        self._reached = 0
        self._put_off: set[int] = set()

    @property
    def put_off(self) -> frozenset[int]:
        """Those refused since somebody was reached."""
        return frozenset(self._put_off)

    def reached(self) -> None:
        """Somebody was: so the others may be tried again."""
        self._reached += 1
        self._put_off.clear()

    def refused(self, person_id: int) -> bool:
        """Note a refusal; whether there is no hope."""
        refused = self._of.setdefault(person_id, _Refused())
        refused.in_all += 1
        refused.alone += refused.reached != self._reached
        refused.reached = self._reached
        self._put_off.add(person_id)
        return refused.alone >= HOPELESS_AFTER or refused.in_all >= HOPELESS_ALONE
