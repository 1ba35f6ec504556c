"""The newest question of each chat: only its buttons are to stand there.

Kept in memory alone. Forgetting one does no harm, since an old button explains itself.
"""

from collections import OrderedDict

REMEMBERED = 10_000


class OpenQuestions:
    """Which message of a chat holds the question that waits for an answer."""

    def __init__(self) -> None:
        self._message_of: OrderedDict[int, int] = OrderedDict()

    def is_current(self, chat_id: int, message_id: int | None) -> bool:
        """Whether this message holds the chat's newest question."""
        return message_id is not None and self._message_of.get(chat_id) == message_id

    def replace(self, chat_id: int, message_id: int | None) -> int | None:
        """Remember the newest question (None: there's none); the message that held the one before, if another."""
        before = self._message_of.pop(chat_id, None)
        if message_id is not None:
            self._message_of[chat_id] = message_id
        while len(self._message_of) > REMEMBERED:
            self._message_of.popitem(last=False)
        return before if before != message_id else None
