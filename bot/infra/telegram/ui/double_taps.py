"""Second taps: a press this soon after the same one has been answered wants nothing new.

Kept in memory alone: after a restart a second tap at the worst brings what the first one did.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

WITHIN: Final = timedelta(seconds=5)


class DoubleTapGuard:
    """Remembers the presses of the last seconds."""

    def __init__(self) -> None:
        self._answered: OrderedDict[tuple[int, str], datetime] = OrderedDict()

    def is_second(self, chat_id: int, data: str, now: datetime) -> bool:
        """Whether this button of this chat was answered just now."""
        answered = self._answered.get((chat_id, data))
        return answered is not None and now - answered < WITHIN

    def answered(self, chat_id: int, data: str, now: datetime) -> None:
        """What the button asks for has been done."""
        self._answered[chat_id, data] = now
        self._answered.move_to_end((chat_id, data))
        while next(iter(self._answered.values())) <= now - WITHIN:
            self._answered.popitem(last=False)
