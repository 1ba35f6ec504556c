"""Notifications that this process leaves to others, because it can't read them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.outbox.model import Queue, StoredNotification

TRY_AGAIN: Final = timedelta(minutes=1)
"""How long until this process tries again to read it. Its row can have been encrypted with another key."""

FOLLOWS_FOR: Final = timedelta(seconds=15)
"""How long later notifications about the same subject wait, so that whoever can read the first sends all in order.

It is longer than another process needs to take the chat. After that they are sent: nobody may be able to read the
first, and a message about money must not wait for that.
"""


LEFT_FOR: Final = timedelta(days=30)
"""How old a notification can become while nobody can read it. Then it is given up."""


@dataclass(frozen=True, slots=True)
class _Left:
    since: datetime
    again_at: datetime
    chat_id: int = 0
    subject: str = ""
    queue: Queue | None = None


class LeftNotifications:
    """Remembers which notifications this process leaves, and until when.

    Args:
        clock: the time.
        is_alone: whether no other process can send them. Then nothing waits for them.
    """

    def __init__(self, clock: Clock, *, is_alone: bool) -> None:
        self._clock = clock
        self._is_alone = is_alone
        self._left: dict[int, _Left] = {}

    def list_ids(self) -> Collection[int]:
        """Return those that aren't tried now. Forget those that weren't met again when they could be tried."""
        now = self._clock.now()
        self._left = {id_: left for id_, left in self._left.items() if now < left.again_at + TRY_AGAIN}
        return [id_ for id_, left in self._left.items() if now < left.again_at]

    def add(self, notification: StoredNotification) -> None:
        """Leave a notification that can't be read."""
        now, known = self._clock.now(), self._left.get(notification.id)
        self._left[notification.id] = _Left(
            known.since if known else now,
            now + TRY_AGAIN,
            notification.chat_id,
            notification.subject,
            notification.queue,
        )

    def must_wait(self, notification: StoredNotification) -> bool:
        """Return whether a notification is left, or waits for an earlier one about its subject that is.

        Then it is left for as long, too. Messages about money wait for no other queue.
        """
        now = self._clock.now()
        if notification.id in self._left and now < self._left[notification.id].again_at:
            return True
        if self._is_alone:
            return False
        until = max(
            (
                left.since + FOLLOWS_FOR
                for id_, left in self._left.items()
                if id_ < notification.id
                and left.queue in {Queue.URGENT, notification.queue}
                and (left.chat_id, left.subject) == (notification.chat_id, notification.subject)
            ),
            default=now,
        )
        if until <= now:
            return False
        self._left[notification.id] = _Left(now, until)
        return True
