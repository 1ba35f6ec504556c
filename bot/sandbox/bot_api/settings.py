"""Settings of a sandbox Bot API server."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bot.sandbox.bot_api.model import Chat, Person

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SANDBOX_TOKEN = "424242:sandbox-token-not-secret-AAAAAAAAAAAAAAAA"  # noqa: S105  known to all, opens nothing
ALERT_BOT_TOKEN = "434343:sandbox-alert-token-not-secret-AAAAAAAAAA"  # noqa: S105  as above
"""The token of a second bot, which sends alerts to the same chats and can do nothing else."""

ALERT_BOT = {"id": 434343, "is_bot": True, "first_name": "Kirim alerts", "username": "kirim_alerts_sandbox_bot"}
SUPPORT_GROUP_ID = -1002000000001
FRIENDS_GROUP_ID = -2000000001


def utc_now() -> datetime:
    """Return the current time, aware."""
    return datetime.now(UTC)


def default_people() -> tuple[Person, ...]:
    """Return the users of the first start: two senders, an operator, a support agent."""
    return (
        Person(id=1001, first_name="Emma", language_code="en", role="sender", username="emma_sandbox"),
        Person(id=1002, first_name="Sari", language_code="id", role="sender", username="sari_sandbox"),
        Person(id=2001, first_name="Oscar", language_code="en", role="operator", username="oscar_sandbox"),
        Person(id=3001, first_name="Rina", language_code="id", role="supporter", username="rina_sandbox"),
    )


def default_groups() -> tuple[Chat, ...]:
    """Return the support group, a forum with the operator, the support agent and the bot, and a group of the senders.

    The bot isn't in the senders' group: what they share there comes from inline mode.
    """
    return (
        Chat(
            id=SUPPORT_GROUP_ID,
            type="supergroup",
            title="Kirim support",
            is_forum=True,
            statuses={2001: "creator", 3001: "administrator"},
        ),
        Chat(
            id=FRIENDS_GROUP_ID,
            type="group",
            title="Emma & Sari",
            statuses={1001: "creator", 1002: "member"},
            has_bot=False,
        ),
    )


TotalLimit: TypeAlias = Literal["all", "bulk"]
TOTAL_LIMITS: tuple[TotalLimit, ...] = get_args(TotalLimit)


@dataclass(frozen=True)
class Limits:
    """Telegram's documented limits, in messages. `chat_burst`: how many can arrive at once in a chat.

    Telegram documents 30 a second for "bulk notifications to multiple users", and doesn't say what it really counts.
    `total_applies_to` is how to read that: it counts "all" messages, or only those in "bulk" (`BulkDetector`). The
    default is "all": a bot that loses nothing there loses nothing under the other reading either, and its developer
    sees what a 429 does.
    """

    enforce: bool = True
    total_per_second: float = 30
    total_applies_to: TotalLimit = "all"
    chat_per_second: float = 1
    chat_burst: int = 5
    group_per_minute: int = 20


@dataclass(frozen=True)
class TelegramSandboxSettings:
    """Settings of the server.

    `state_path`: the SQLite file that keeps state between starts, or None for memory only. `bot_token`:
    `<digits>:<35 or so characters>`; the digits are the bot's user id. `clock` gives aware UTC times for dates, the age
    of presses and the limits. Waiting uses real time. `inline_mode` is what @BotFather's /setinline sets.
    """

    state_path: Path | None = None
    bot_token: str = SANDBOX_TOKEN
    bot_name: str = "Kirim"
    bot_username: str = "kirim_sandbox_bot"
    inline_mode: bool = True
    people: tuple[Person, ...] = field(default_factory=default_people)
    groups: tuple[Chat, ...] = field(default_factory=default_groups)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], datetime] = utc_now

    @property
    def bot_id(self) -> int:
        """Return the bot's user id."""
        return int(self.bot_token.partition(":")[0])
