"""Users, their recorded events, and the provider: who offers the bot to users, and under which terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from html import escape
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.zones import zone_of
from bot.infra.i18n import Html, Translator, as_html
from bot.infra.outbox.model import NotificationKind
from bot.infra.telegram.inbound.model import ChatState


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The person or company that offers the bot. Parts that aren't set are empty.

    Operators are others: the Telegram users who operate the bot.
    """

    name: str = ""
    terms_url: str = ""
    privacy_url: str = ""

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links that are set: the key of each label, and its address."""
        every = (("users.provider.terms", self.terms_url), ("users.provider.privacy", self.privacy_url))
        return tuple((key, url) for key, url in every if url)


UNNAMED: Final = Provider()
"""A provider of whom nothing is set."""


def format_provider(t: Translator, provider: Provider) -> tuple[Html, ...]:
    """Return the line about the provider in a tuple. The tuple is empty if nothing is set."""
    name = (t("users.provider.name", name=provider.name),) if provider.name else ()
    links = (Html(f'<a href="{escape(url)}">{as_html(t.plain(key))}</a>') for key, url in provider.links)
    parts = (*name, *links)
    return (Html(" · ".join(parts)),) if parts else ()


HANDLED_BY_QUESTION: Final = "question"
"""What the inbox says of an update that an open question took as its answer (`InboxItem.handled_by`)."""


@dataclass(frozen=True, slots=True)
class DeletedUser:
    """The language of a user whose row is deleted: the chosen one, and that of their app."""

    locale: str | None
    language_code: str | None


class UserNotification(NotificationKind):
    """Notifications about the user's own data."""

    DATA_DELETED = "data_deleted", DeletedUser
    """The last message to a user whose data was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user who has written to the bot in private. The chat has the same id.

    Attributes:
        time_zone: empty until the user chooses one. Until then the bot assumes Jakarta.
        suggested_phrase: the code of the last suggested phrase. The first invoice of a user without a phrase shows it.
        notification_preferences: topic -> delivery mode, for topics that the user has changed
            (`orders/preferences.py`).
        open_question: the question outside of a draft that the user is asked (`questions.py`).
        answered_update_id: the last update that answered such a question.
        chat: the state of the chat. It is read with the user, but saved by `UserRepository.save_chat`.
        last_seen_at: when the user last acted. It is saved at most once a day.
        username: the public name in lower case, without @.
    """

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = ""
    blocked_at: datetime | None = None
    created_at: datetime
    phrase: str | None = field(default=None, repr=False)
    suggested_phrase: str | None = field(default=None, repr=False)
    notification_preferences: Mapping[str, str] | None = None
    open_question: str | None = None
    answered_update_id: int | None = None
    deletion_requested_at: datetime | None = None
    last_seen_at: datetime | None = None
    username: str | None = None
    chat: ChatState | None = field(default=None, compare=False)

    @property
    def zone(self) -> ZoneInfo:
        """The user's time zone."""
        return zone_of(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """An event of a user, without what they wrote. `event` is a `UserEvent` or the result of `press_event`."""

    user_id: int
    reference: str = ""
    at: datetime
    event: str


PRESSED: Final = "pressed."
"""The start of the event of a button under an order's message."""


class UserEvent(StrEnum):
    """What users do, except for pressing buttons."""

    OPENED_TICKET = "asked"  # wrote to support, which opened a ticket
    ADDED_MESSAGE = "said"  # wrote more in an open ticket
    REOPENED = "reopened"
    RATED_GOOD = "rated.good"
    RATED_BAD = "rated.bad"
    BLOCKED = "blocked"  # the bot
    CAME_BACK = "came_back"


def press_event(action: str) -> str:
    """Return the event of pressing a button under an order's message. `action` comes from the button's data."""
    return PRESSED + action


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRules:
    """Who runs the bot, and how long users' data is kept."""

    provider: Provider
    operator_ids: frozenset[int]
    retention_days: int
    """Days to keep personal data after its last use. 0 means forever."""
