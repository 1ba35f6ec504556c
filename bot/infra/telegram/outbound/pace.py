"""Telegram's limits as arithmetic: when the next message may be sent. Without waiting and without a clock."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

Kind = Literal["message", "edit"]

MAX_LATENESS = 0.1
"""Seconds of delay that a pace makes up for when the program was busy. The network varies by that much, too."""

MINUTE = 60.5
"""Seconds of a minute, with a margin: Telegram counts arrivals, and some messages take longer to arrive."""

LEAST_PER_SECOND = 5.0
"""No rate falls lower. Payers still get messages then, and 30 a second are reached again after 19 quiet seconds.

Telegram isn't burdened by that even if it rejects everything, because each rejected chat waits.
"""

SAME_REJECTION_SECONDS = 0.5
"""Calls that are sent so soon after the rate was halved belong to the same rejection.

A short failure of Telegram rejects everything. Without this time it would leave the lowest rate within a second.
"""

GROWTH_PER_SECOND = 1.1
"""The factor by which a rate grows in each second without a rejection."""

LONGEST_GROWTH = 600.0
"""Seconds of growth that are computed. Every rate is at its maximum long before, and a power could overflow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of sending. Telegram documents 1 a second in a chat, 20 a minute in a group, 30 a second in bulk.

    Args:
        start_per_second: messages to all chats at the start, evenly spaced. The rate adapts to what Telegram accepts
            (`AdaptiveRate`). Edits and deletions have the same limit, counted separately.
        most_per_second: the maximum of that rate.
        chat_burst: messages at once to a chat that got none for a while. Telegram accepts that in practice.
        chat_gap: seconds until a message of the burst is allowed again.
        edit_burst: edits and deletions at once, after quick presses of a user.
        edit_gap: seconds until an edit or deletion of the burst is allowed again.
        group_per_minute: messages and edits in a group (its chat id is negative).
        bulk_per_second: maximum of messages in bulk, evenly spaced. It is a little below the documented limit, because
            Telegram counts arrivals. Unpaid ones also count in the total.
    """

    start_per_second: float = 60.0
    most_per_second: float = 200.0
    chat_burst: int = 3
    chat_gap: float = 1.0
    edit_burst: int = 5
    edit_gap: float = 0.5
    group_per_minute: int = 20
    bulk_per_second: float = 29.7


UNLIMITED = Limits(float("inf"), float("inf"), 1, 0.0, 1, 0.0, 1_000_000_000, float("inf"))
"""No limits, for benchmarks."""


class AdaptiveRate:
    """A rate that adapts to a limit that isn't known. A rejection halves it, and each second without one adds a tenth.

    It never falls below `LEAST_PER_SECOND`, or below `most` if that is lower. Times are seconds of one clock.

    Args:
        start: calls a second at first.
        most: the maximum. If it is lower than `start`, it is used for both.
    """

    def __init__(self, start: float, most: float) -> None:
        self._per_second = min(start, most)
        self._most = most
        self._grows_from: float | None = None
        self._halved_at = float("-inf")

    def per_second(self, now: float) -> float:
        """Return the current rate. It begins to grow when it is first asked for."""
        if self._grows_from is None:
            self._grows_from = now
        growth: float = GROWTH_PER_SECOND ** min(now - self._grows_from, LONGEST_GROWTH)
        return min(self._per_second * growth, self._most)

    def halve(self, sent_at: float, now: float) -> bool:
        """Halve the rate, because a call that was sent at `sent_at` was rejected. Return whether that was done.

        A call that was sent before the rate was halved says nothing about the halved rate, so it changes nothing. The
        same is true of calls up to `SAME_REJECTION_SECONDS` after it.
        """
        if sent_at <= self._halved_at + SAME_REJECTION_SECONDS:
            return False
        self._per_second = max(self.per_second(now) / 2, min(LEAST_PER_SECOND, self._most))
        self._grows_from = self._halved_at = now
        return True


class EvenPace:
    """Evenly spaced slots that all chats share. Times are seconds of one clock."""

    def __init__(self, rate: AdaptiveRate) -> None:
        self._rate = rate
        self._next = float("-inf")

    def get_next_slot(self) -> float:
        """Return the time of the next slot. It is in the past if a slot is free now."""
        return self._next

    def take_slot(self, waited_since: float, now: float) -> None:
        """Take the current slot. Compute the next one from its time, even if the timer was late.

        At most `MAX_LATENESS` is made up for, so that a pause causes no burst.
        """
        due = max(self._next, waited_since)
        self._next = max(due, now - MAX_LATENESS) + 1 / self._rate.per_second(now)


class _Allowance:
    """A burst of calls that refills at a steady pace. Its state is one number."""

    def __init__(self, burst: int, gap: float) -> None:
        self._slack = (burst - 1) * gap
        self._gap = gap
        self._full_at = float("-inf")

    def ready_at(self) -> float:
        return self._full_at - self._slack

    def count_call(self, now: float) -> None:
        self._full_at = max(self._full_at, now) + self._gap

    def is_full(self, now: float) -> bool:
        return self._full_at <= now


class ChatPace:
    """The limits of one chat. Times are seconds of one clock."""

    def __init__(self, limits: Limits, *, is_group: bool) -> None:
        self._allowances: dict[Kind, _Allowance] = {
            "message": _Allowance(limits.chat_burst, limits.chat_gap),
            "edit": _Allowance(limits.edit_burst, limits.edit_gap),
        }
        self._per_minute = limits.group_per_minute if is_group else 0
        self._latest: deque[float] = deque(maxlen=self._per_minute)
        self._paused_until: dict[Kind, float] = {"message": float("-inf"), "edit": float("-inf")}

    def ready_at(self, kind: Kind) -> float:
        """Return when the next call may be sent. It is in the past if that is now."""
        return max(self._allowances[kind].ready_at(), self._paused_until[kind], self._minute_ready_at())

    def count_call(self, kind: Kind, now: float) -> None:
        """Count a call that is sent now."""
        self._allowances[kind].count_call(now)
        if self._per_minute:
            self._latest.append(now)

    def pause(self, until: float, kind: Kind) -> None:
        """Allow no call before `until`, because Telegram rejected one of this kind and asked for a pause.

        After a rejected edit or deletion, messages are still allowed. None of them waits because an old one can't be
        changed.
        """
        kinds: tuple[Kind, ...] = ("edit",) if kind == "edit" else ("message", "edit")
        for each in kinds:
            self._paused_until[each] = max(self._paused_until[each], until)

    def remaining_pause(self, now: float, kind: Kind) -> float:
        """Return for how many seconds no such call is allowed, because Telegram asked for it. 0 means that one is."""
        return max(self._paused_until[kind] - now, 0.0)

    def is_idle(self, now: float) -> bool:
        """Return whether no earlier call limits the next one. The state can then be deleted."""
        all_full = all(allowance.is_full(now) for allowance in self._allowances.values())
        all_paused_until = max(self._paused_until.values())
        return all_full and all_paused_until <= now and not (self._latest and self._latest[-1] + MINUTE > now)

    def _minute_ready_at(self) -> float:
        if not self._per_minute or len(self._latest) < self._per_minute:
            return float("-inf")
        return self._latest[0] + MINUTE
