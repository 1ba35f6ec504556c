"""What the store keeps besides drafts and orders: persons, updates, news and events, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.domain.order import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has written to the bot in private; there the chat's id is the person's own."""

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = "Asia/Jakarta"
    blocked_at: datetime | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update that Telegram has given us, kept until it is dealt with. `body` is its JSON."""

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0


class NewsStatus(StrEnum):
    """Where a piece of news is on its way to the person."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    TOLD = "told"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One row of the outbox. Unique by (subject, kind, chat); rows of one chat are told in the order of `id`."""

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    payload: Mapping[str, object] = field(default_factory=dict)
    status: NewsStatus = NewsStatus.WAITING
    attempts: int = 0
    maybe_told: bool = False
    due_at: datetime
    created_at: datetime
    message_id: int | None = None
    told_at: datetime | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """What was seen of an order, and when: its timeline for people and for support."""

    reference: str
    at: datetime
    phase: Phase
    state: str
    note: str = ""
