"""Updates as the inbox saves them, and the state of a chat that they change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2s
from typing import Final

DOUBLE_TAP_WITHIN: Final = timedelta(seconds=5)
"""A second press of a button this soon after the first is a double tap and requests nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update from Telegram, saved until it is finished. `body` is its JSON.

    `handled_by` is the feature's word for what handled it, saved in the transaction that did.
    `source` is the bot and the server that count the ids (`name_source`).
    """

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0
    handled_by: str | None = None
    source: str = ""


def name_source(base_url: str) -> str:
    """Return a short name of a bot at a server, by the address of its calls. It contains neither of them.

    The bot is the number before the colon of its token. A new token of the same bot goes on with the same ids.
    """
    server, _, token = base_url.rpartition("/bot")
    return blake2s(f"{server} {token.partition(':')[0]}".encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatState:
    """The state of a user's private chat, for its buttons.

    Attributes:
        user_id: the user. The chat has the same id.
        question_message_id: the message with the newest question. Only this message keeps its buttons.
        answered_buttons: the data of buttons that were pressed in the last seconds -> when they were handled.
    """

    user_id: int
    question_message_id: int | None = None
    answered_buttons: Mapping[str, datetime] = field(default_factory=dict)

    def is_double_tap(self, button: str, now: datetime) -> bool:
        """Return whether the same button was handled a moment ago."""
        answered = self.answered_buttons.get(button)
        return answered is not None and now - answered < DOUBLE_TAP_WITHIN

    def with_tap(self, button: str, now: datetime) -> "ChatState":
        """Return the state after a button was handled."""
        recent = {other: at for other, at in self.answered_buttons.items() if now - at < DOUBLE_TAP_WITHIN}
        return replace(self, answered_buttons={**recent, button: now})
