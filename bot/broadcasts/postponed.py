"""Readers that Telegram refuses for the number of messages (429): postponed, and given up in the end."""

from dataclasses import dataclass

GIVE_UP_AFTER_ALONE, GIVE_UP_AFTER = 3, 12
"""Refusals of one reader while others were reached in between, and in all: a broadcast has to end."""


@dataclass(slots=True)
class _Refusals:
    """How often a reader was refused: in all, and while others were reached. `deliveries` is their count last time."""

    in_all: int = 0
    alone: int = 0
    deliveries: int = -1


class PostponedReaders:
    """Tell a limit that meets all readers from one that meets a single chat."""

    def __init__(self) -> None:
        self._refusals: dict[int, _Refusals] = {}
        self._deliveries = 0
        self._ids: set[int] = set()

    @property
    def ids(self) -> frozenset[int]:
        """Return the readers that were refused since the last delivery."""
        return frozenset(self._ids)

    def record_delivery(self) -> None:
        """Note that a reader was reached, so the others can be tried again."""
        self._deliveries += 1
        self._ids.clear()

    def record_refusal(self, user_id: int) -> bool:
        """Note a refusal, and return whether the reader is to be given up."""
        refusals = self._refusals.setdefault(user_id, _Refusals())
        refusals.in_all += 1
        refusals.alone += refusals.deliveries != self._deliveries
        refusals.deliveries = self._deliveries
        self._ids.add(user_id)
        return refusals.alone >= GIVE_UP_AFTER_ALONE or refusals.in_all >= GIVE_UP_AFTER
