"""What a feature brings to the bot. `bot/app.py` builds the features and introduces each of them once.

A feature's module `feature.py` builds its parts from what stands below it and returns them as one `Feature`:

    class Rates:
        def __init__(self, infra: Infra, catalogue: Catalogue) -> None:
            handlers = RateHandlers(infra, catalogue)
            self.feature = Feature(name="rates", routes=(handlers.routes(),), ...)

What another feature needs of it are attributes of that class.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.i18n import Translations
from bot.infra.outbox.follow_ups import FollowUp, OnChatMoved, OnChatUnreachable
from bot.infra.outbox.model import NotificationKind
from bot.infra.telegram.inbound.chat_queues import ChatJobs
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.questions import Answer
from bot.infra.telegram.ui.router import Handler, Routes
from bot.infra.workers import Wakeup


@dataclass(frozen=True, slots=True, kw_only=True)
class Infra:
    """What every feature is built on."""

    clock: Clock
    database: Database
    messenger: Messenger
    translations: Translations
    default_locale: str
    wake_outbox: Wakeup
    """Call it after a transaction that added a notification: it is sent at once, not at the next look."""

    chat_jobs: ChatJobs = field(default_factory=ChatJobs)
    """Runs a job between the updates of a chat, so that it can't overtake an answer."""


class Phase(Enum):
    """When a handler is asked whether it takes an update. Within a phase the order of the features decides."""

    CORRECTIONS = "corrections"
    """Edited messages."""

    QUESTIONS = "questions"
    """Typed answers to a question that is open, and all else that comes before everybody's commands and buttons."""

    FEATURES = "features"
    """Commands and buttons that work at any point of any conversation."""

    CONVERSATION = "conversation"
    """The order that is being put together, and what is said outside of it."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Something to do again and again, in a loop of its own.

    `tick` returns the seconds until its next call, if `wakeup` doesn't wake it earlier.
    """

    name: str
    tick: Callable[[], Awaitable[float]]
    wakeup: Wakeup = field(default_factory=Wakeup)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one feature brings. Everything but the name is optional."""

    name: str
    """Its package below `bot`."""

    routes: Sequence[Routes[Any]] = ()
    answers: Mapping[str, Answer[Any]] = field(default_factory=dict)
    """Question -> who takes the message that answers it."""

    handlers: Mapping[Phase, Sequence[Handler]] = field(default_factory=dict)
    """What isn't a command, a button or an answer: each is tried in its phase."""

    renderers: Sequence[Mapping[NotificationKind, Callable[..., Awaitable[Any]]]] = ()
    """Kind of notification -> what turns it into a message."""

    follow_ups: Mapping[NotificationKind, FollowUp] = field(default_factory=dict)
    """Kind of notification -> what follows in the transaction that saves that it was sent or given up."""

    on_chat_unreachable: Sequence[OnChatUnreachable] = ()
    """Called in the transaction that gives up all notifications to a chat."""

    on_chat_moved: Sequence[OnChatMoved] = ()
    """Called in the transaction that gives a chat's notifications its new id."""

    workers: Sequence[Worker] = ()
    unreadable_rows: Mapping[str, str] = field(default_factory=dict)
    """Table -> the text for a user whose row of it can't be read. Trying again doesn't help with these."""

    close: Callable[[float], Awaitable[None]] | None = None
    """Finishes what may not wait for the next start, after the last update. It is given seconds for it, or none."""

    alarm_subjects: Mapping[Any, Callable[..., Awaitable[Any]]] = field(default_factory=dict)
    """Kind of alarm -> what reads the thing that such alarms are about (`staff.alarm_subjects`)."""

    audit_terms: Any = None
    """The feature's `AuditTerms`: what it writes to the audit log."""

    user_data: Any = None
    """The feature's `UserData`: what it does with what it stores about a user (`users.user_data`)."""
