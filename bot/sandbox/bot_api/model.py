"""The data of the sandbox's Telegram: users, chats, topics, messages, files, presses, and the settings of a server.

Each class is plain data that is saved as JSON. The Bot API's own objects (`Message`, `Update`) are kept as the JSON in
which they are sent, because that is the contract.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JsonObject: TypeAlias = dict[str, Any]

MEMBERS = frozenset({"creator", "administrator", "member"})


@dataclass
class Person:
    """A user of the sandbox. `id` is also the id of the private chat with the bot."""

    id: int
    first_name: str
    language_code: str
    role: str
    last_name: str = ""
    username: str = ""
    blocked: bool = False
    started: bool = False

    def as_user(self) -> JsonObject:
        """Return the user as a Bot API `User`."""
        user: JsonObject = {"id": self.id, "is_bot": False, "first_name": self.first_name}
        if self.last_name:
            user["last_name"] = self.last_name
        if self.username:
            user["username"] = self.username
        if self.language_code:
            user["language_code"] = self.language_code
        return user


@dataclass
class Topic:
    """A topic of a forum. `id` is its `message_thread_id`."""

    id: int
    name: str
    icon_color: int
    closed: bool = False


@dataclass
class Chat:
    """A private chat or a group. `statuses`: user id -> Bot API status, the bot included (groups only).

    `reactions`: whether any are allowed. `has_bot`: whether the bot is in the group at the first start.
    """

    id: int
    type: str
    title: str = ""
    is_forum: bool = False
    statuses: dict[int, str] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    last_message_id: int = 0
    migrated_to: int = 0
    reactions: bool = True
    has_bot: bool = True

    @property
    def members(self) -> list[int]:
        """Return the ids of the members, the bot included."""
        return [user_id for user_id, status in self.statuses.items() if status in MEMBERS]


@dataclass
class StoredMessage:
    """A message. `body` is the Bot API's `Message`. The other fields are hidden from the bot.

    `reactions`: the emoji of the bot's reactions.
    """

    chat_id: int
    message_id: int
    date: int
    body: JsonObject
    outgoing: bool
    keyboard: JsonObject | None = None
    silent: bool = False
    reactions: list[str] = field(default_factory=list)

    @property
    def thread_id(self) -> int:
        """Return the topic of the message, 0 for none."""
        return int(self.body.get("message_thread_id", 0))

    def as_client_json(self) -> JsonObject:
        """Return the body with the fields that only clients get: reply keyboards, silent sending, reactions."""
        view = dict(self.body)
        if self.keyboard is not None:
            view["reply_markup"] = self.keyboard
        view["sandbox"] = {"silent": self.silent, "outgoing": self.outgoing, "reactions": self.reactions}
        return view


@dataclass
class StoredFile:
    """A file. Its bytes are saved separately, by `file_id`. `media`: the Bot API object that it is part of."""

    file_id: str
    unique_id: str
    kind: str
    size: int
    path: str
    mime: str
    media: Any = None

    def as_file(self) -> JsonObject:
        """Return the Bot API's `File`."""
        return {
            "file_id": self.file_id,
            "file_unique_id": self.unique_id,
            "file_size": self.size,
            "file_path": self.path,
        }


@dataclass
class Press:
    """A press of an inline button (callback query), with the bot's `answer`. `at` in Unix seconds."""

    id: str
    chat_id: int
    message_id: int
    person_id: int
    at: float
    answer: JsonObject | None = None


@dataclass
class PendingUpdate:
    """An update as the JSON text that is sent. `at` in Unix seconds."""

    id: int
    at: float
    text: str


@dataclass
class ServerState:
    """The server's state: its counters, and the bot's profile.

    `id` differs for each sandbox that started from scratch. `commands` is keyed by scope and language,
    `descriptions` by language.
    """

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    last_message_id: int = 0
    last_update_id: int = 100_000_000
    last_file: int = 0
    last_press: int = 0
    last_event: int = 0
    last_group: int = 2_000_000_001
    allowed_updates: list[str] | None = None
    webhook: JsonObject | None = None
    commands: dict[str, list[JsonObject]] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)


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
    of presses and the limits. Waiting uses real time. `inline_mode` is what @BotFather's /setinline sets,
    and `inline_feedback` what /setinlinefeedback does.
    """

    state_path: Path | None = None
    bot_token: str = SANDBOX_TOKEN
    bot_name: str = "Kirim"
    bot_username: str = "kirim_sandbox_bot"
    inline_mode: bool = True
    inline_feedback: bool = True
    people: tuple[Person, ...] = field(default_factory=default_people)
    groups: tuple[Chat, ...] = field(default_factory=default_groups)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], datetime] = utc_now

    @property
    def bot_id(self) -> int:
        """Return the bot's user id."""
        return int(self.bot_token.partition(":")[0])
