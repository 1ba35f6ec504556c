"""The state of a chat that its updates change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

DOUBLE_TAP_WITHIN: Final = timedelta(seconds=5)
"""A second press of a button this soon after the first is a double tap and requests nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatState:
    """The state of a user's private chat, for its buttons.

    Attributes:
        user_id: the user. The chat has the same id.
        question_message_id: the message with the newest question. Only this message keeps its buttons.
        question_can_go: whether that message only asks, so that it is deleted when another takes its place.
        answered_buttons: the data of buttons that were pressed in the last seconds -> when they were handled.
    """

    user_id: int
    question_message_id: int | None = None
    question_can_go: bool = False
    answered_buttons: Mapping[str, datetime] = field(default_factory=dict)

    def is_double_tap(self, button: str, now: datetime) -> bool:
        """Return whether the same button was handled a moment ago."""
        answered = self.answered_buttons.get(button)
        return answered is not None and now - answered < DOUBLE_TAP_WITHIN

    def with_tap(self, button: str, now: datetime) -> "ChatState":
        """Return the state after a button was handled."""
        recent = {other: at for other, at in self.answered_buttons.items() if now - at < DOUBLE_TAP_WITHIN}
        return replace(self, answered_buttons={**recent, button: now})
