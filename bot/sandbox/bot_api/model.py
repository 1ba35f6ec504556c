"""The data of the sandbox's Telegram: users, chats, topics, messages, files and button presses.

Each class is plain data that is saved as JSON. The Bot API's own objects (`Message`, `Update`) are kept as the JSON in
which they are sent, because that is the contract.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]

MEMBERS = frozenset({"creator", "administrator", "member"})


@dataclass
class Person:
    """A user of the sandbox. `id` is also the id of the private chat with the bot.

    `hides_forwards`: forwarded messages show the user's name without a link.
    """

    id: int
    first_name: str
    language_code: str
    role: str
    last_name: str = ""
    username: str = ""
    blocked: bool = False
    started: bool = False
    hides_forwards: bool = False

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
    icon_custom_emoji_id: str = ""
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
    pinned: list[int] = field(default_factory=list)
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
class ServerState:
    """The server's state: its counters, and the bot's profile.

    `id` differs for each sandbox that started from scratch. `commands` is keyed by scope and language,
    `menu_buttons` by chat id, the texts by language.
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
    names: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    short_descriptions: dict[str, str] = field(default_factory=dict)
    menu_buttons: dict[str, JsonObject] = field(default_factory=dict)
