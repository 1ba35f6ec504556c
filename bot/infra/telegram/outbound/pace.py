"""How fast one chat may be written to: Telegram's limits as arithmetic, without waiting and without a clock."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

Kind = Literal["message", "edit"]

LATENESS = 0.1
"""Seconds that a line makes good when the program was busy: what the way to Telegram varies by anyway."""

MINUTE = 60.5
"""Seconds; a little over one, since it's their arrival at Telegram that counts and some travel longer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is sent at the most. Telegram documents 30 a second in all, 1 in a chat, 20 a minute in a group.

    Args:
        total_per_second: messages in all, evenly spaced; a little less than documented, because arrival counts, not
            departure. Edits and deletions, which aren't counted as messages, go beside them at the same pace.
        chat_burst: messages that a rested chat takes at once, as Telegram in practice bears.
        chat_gap: seconds a message needs to be made good.
        edit_burst: the same for edits and deletions, which follow a user's quick presses.
        edit_gap: the same for edits and deletions, in seconds.
        group_per_minute: messages and edits in a group (its chat id is negative).
        bulk_per_second: broadcasts, evenly spaced, within the total; those paid for aren't counted in that.
    """

    total_per_second: float = 29.7
    chat_burst: int = 3
    chat_gap: float = 1.0
    edit_burst: int = 5
    edit_gap: float = 0.5
    group_per_minute: int = 20
    bulk_per_second: float = 29.7


UNLIMITED = Limits(float("inf"), 1, 0.0, 1, 0.0, 1_000_000_000, float("inf"))
"""For measuring everything but the waiting."""


class Line:
    """Slots at an even pace, shared by all chats. Times are seconds on any one clock."""

    def __init__(self, per_second: float) -> None:
        self._spacing = 1 / per_second
        self._next = float("-inf")

    def opens_at(self) -> float:
        """When the next slot is; in the past where there is one now."""
        return self._next

    def take(self, waited_since: float, now: float) -> None:
        """Take the slot that has come, and count from its own time rather than from that of a late timer.

        No more than `LATENESS` is made good, so that no burst follows a standstill.
        """
        due = max(self._next, waited_since)
        self._next = max(due, now - LATENESS) + self._spacing


class _Allowance:
    """A burst that comes back at a steady pace; one number is all it needs to remember."""

    def __init__(self, burst: int, gap: float) -> None:
        self._slack = (burst - 1) * gap
        self._gap = gap
        self._whole_at = float("-inf")

    def ready_at(self) -> float:
        return self._whole_at - self._slack

    def take(self, now: float) -> None:
        self._whole_at = max(self._whole_at, now) + self._gap

    def is_whole(self, now: float) -> bool:
        return self._whole_at <= now


class ChatPace:
    """The pace of one chat. Times are seconds on any one clock."""

    def __init__(self, limits: Limits, *, is_group: bool) -> None:
        self._allowances: dict[Kind, _Allowance] = {
            "message": _Allowance(limits.chat_burst, limits.chat_gap),
            "edit": _Allowance(limits.edit_burst, limits.edit_gap),
        }
        self._per_minute = limits.group_per_minute if is_group else 0
        self._latest: deque[float] = deque(maxlen=self._per_minute)
        self._paused_until = float("-inf")

    def ready_at(self, kind: Kind) -> float:
        """When one more may go; in the past where it may go at once."""
        return max(self._allowances[kind].ready_at(), self._paused_until, self._minute_ready_at())

    def take(self, kind: Kind, now: float) -> None:
        """One goes now."""
        self._allowances[kind].take(now)
        if self._per_minute:
            self._latest.append(now)

    def pause(self, until: float) -> None:
        """Nothing goes before `until`: Telegram said so."""
        self._paused_until = max(self._paused_until, until)

    def is_rested(self, now: float) -> bool:
        """Whether nothing of the past matters any more, so that this pace may be forgotten."""
        whole = all(allowance.is_whole(now) for allowance in self._allowances.values())
        return whole and self._paused_until <= now and not (self._latest and self._latest[-1] + MINUTE > now)

    def _minute_ready_at(self) -> float:
        if not self._per_minute or len(self._latest) < self._per_minute:
            return float("-inf")
        return self._latest[0] + MINUTE
