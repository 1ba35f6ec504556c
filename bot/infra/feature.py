"""The declaration of a feature: its routes, handlers, workers, renderers and the rest. `bot/app.py` connects them.

A feature's module `feature.py` builds the feature from lower packages and declares its parts as one `Feature`:

    class Rates:
        def __init__(self, infra: Infra, catalogue: Catalogue) -> None:
            handlers = RateHandlers(infra, catalogue)
            self.feature = Feature(name="rates", routes=(handlers.routes(),), ...)

The parts that features above need are attributes of that class, and are called plainly. What a feature needs of those
above is an argument of its class. `Feature` has only what at least three features declare for the bot as a whole.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.i18n import Translations
from bot.infra.outbox.model import NotificationKind
from bot.infra.outbox.rendering import AnyRender, FollowUp
from bot.infra.telegram.inbound.repository import Inbox, JobHandler
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.routes import Routes
from bot.infra.workers import Wakeup


@dataclass(frozen=True, slots=True, kw_only=True)
class Infra:
    """The infrastructure that every feature uses."""

    clock: Clock
    database: Database
    messenger: Messenger
    translations: Translations
    default_locale: str
    inbox: Inbox
    """Adds jobs that run between the updates of a chat, so that they can't overtake an answer."""

    wake_bulk: Wakeup = field(default_factory=Wakeup)
    """Call it after a transaction that added a rate, which the leader sends in bulk."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A function that is called regularly, in its own loop.

    `tick` returns the seconds until its next call. `wakeup` can cause an earlier one.
    """

    name: str
    tick: Callable[[], Awaitable[float]]
    wakeup: Wakeup = field(default_factory=Wakeup)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The parts of one feature. Only the name is required."""

    name: str
    """The name of its package in `bot`."""

    routes: Sequence[Routes[Any]] = ()
    answers: Mapping[str, Callable[[Any, str, Any], Awaitable[object]]] = field(default_factory=dict)
    """Name of a question -> the function that handles its answer (`users.questions`)."""

    renderers: Sequence[Mapping[NotificationKind, AnyRender[Any]]] = ()
    """Kind of notification -> the function that renders and sends it."""

    follow_ups: Mapping[NotificationKind, FollowUp] = field(default_factory=dict)
    """Kind of notification -> the function called in the transaction that saves that it was sent or given up."""

    jobs: Mapping[str, JobHandler] = field(default_factory=dict)
    """Kind of job -> the function that does it, in the process that has the chat."""

    on_lead: Callable[[], Awaitable[None]] | None = None
    """Called when this process becomes the leader, before its workers start: another one may have led meanwhile."""

    workers: Sequence[Worker] = ()
    """The workers of the process that leads."""

    unreadable_rows: Mapping[str, str] = field(default_factory=dict)
    """Table -> the text for a user whose row of it can't be read. Trying again doesn't help with these."""

    user_data: Any = None
    """The feature's `UserData`: what is special about its data of users (`users.user_data`)."""
