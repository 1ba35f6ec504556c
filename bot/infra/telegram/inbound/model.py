"""Updates as the inbox keeps them, and what they leave behind for the next ones of their chat."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

HANDLED_BY_DRAFT: Final = "draft"
HANDLED_BY_QUESTION: Final = "question"
DOUBLE_TAP_WITHIN: Final = timedelta(seconds=5)
"""A press this soon after the same one was answered wants nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update that Telegram has given us, kept until it is dealt with. `body` is its JSON.

    `handled_by` is set in the transaction in which a draft or an answer to a question took it in (`TAKEN_BY_…`).
    """

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0
    handled_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatState:
    """What the buttons of a user's private chat depend on.

    Attributes:
        user_id: the user, whose id is that of the chat.
        question_message_id: the message with the newest question. Only its buttons are to be in the chat.
        answered_buttons: a button's data, and when what it asks for was last done, for those of the last seconds.
    """

    user_id: int
    question_message_id: int | None = None
    answered_buttons: Mapping[str, datetime] = field(default_factory=dict)

    def is_double_tap(self, button: str, now: datetime) -> bool:
        """Return whether the same button was answered just now."""
        answered = self.answered_buttons.get(button)
        return answered is not None and now - answered < DOUBLE_TAP_WITHIN

    def with_tap(self, button: str, now: datetime) -> "ChatState":
        """Return the state after what the button asks for was done."""
        recent = {other: at for other, at in self.answered_buttons.items() if now - at < DOUBLE_TAP_WITHIN}
        return replace(self, answered_buttons={**recent, button: now})
