"""The declaration of a feature: its routes, handlers, workers, renderers and the rest. `bot/app.py` connects them.

A feature's module `feature.py` builds the feature from lower packages and declares its parts as one `Feature`:

    class Rates:
        def __init__(self, infra: Infra, catalogue: Catalogue) -> None:
            handlers = RateHandlers(infra, catalogue)
            self.feature = Feature(name="rates", routes=(handlers.routes(),), ...)

The parts that features above need are attributes of that class. Those are called plainly. What a feature does for the
features below it is declared in `Feature`, too: the one below calls it for each of `infra.features`.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.hooks import (
    AfterUpdate,
    AnswerInlineQuery,
    ButtonAction,
    DescribeTicket,
    LoadAlarmSubject,
    LoadUpdate,
    MakeButton,
    MakeStartButton,
    OnBlocked,
    OnZoneChanged,
    OpenConversation,
    OrderListener,
    ReadStaffPart,
    ReadWelcomeFacts,
    SettingsPart,
    TakeIdleMessage,
)
from bot.infra.i18n import Translations
from bot.infra.jobs.chat_jobs import ChatJobs
from bot.infra.jobs.repository import JobHandler
from bot.infra.outbox.follow_ups import FollowUp, OnChatMoved, OnChatUnreachable
from bot.infra.outbox.model import NotificationKind
from bot.infra.outbox.rendering import AnyRender
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.questions import AnswerHandler
from bot.infra.telegram.ui.router import Handler, Places, Routes
from bot.infra.workers import Wakeup


@dataclass(frozen=True, slots=True, kw_only=True)
class Infra:
    """The infrastructure that every feature uses."""

    clock: Clock
    database: Database
    messenger: Messenger
    translations: Translations
    default_locale: str
    chat_jobs: ChatJobs
    """Adds jobs that run between the updates of a chat, so that they can't overtake an answer."""

    wake_bulk: Wakeup = field(default_factory=Wakeup)
    """Call it after a transaction that added a rate, which the leader sends in bulk."""

    features: "Features" = field(default_factory=lambda: Features())  # noqa: PLW0108  defined below
    """All features, for what those below call in those above."""


class HandlerPhase(Enum):
    """The order in which handlers get an update. Within a phase, the order of the features decides."""

    CORRECTIONS = "corrections"
    """Edited messages."""

    QUESTIONS = "questions"
    """Typed answers to an open question, and other handlers that come before commands and buttons."""

    FEATURES = "features"
    """Commands and buttons that always work."""

    CONVERSATION = "conversation"
    """The conversation about an order, and other messages."""


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
    menu: Mapping[str, Places] = field(default_factory=dict)
    """The places in Telegram's menus of commands that aren't routes. Routes declare theirs."""

    answers: Mapping[str, AnswerHandler[Any]] = field(default_factory=dict)
    """Name of a question -> the function that handles its answer."""

    handlers: Mapping[HandlerPhase, Sequence[Handler]] = field(default_factory=dict)
    """Handlers of updates that aren't commands, buttons or answers."""

    renderers: Sequence[Mapping[NotificationKind, AnyRender[Any]]] = ()
    """Kind of notification -> the function that renders and sends it."""

    follow_ups: Mapping[NotificationKind, FollowUp] = field(default_factory=dict)
    """Kind of notification -> the function called in the transaction that saves that it was sent or given up."""

    on_chat_unreachable: Sequence[OnChatUnreachable] = ()
    """Called in the transaction that gives up all notifications to a chat."""

    on_chat_moved: Sequence[OnChatMoved] = ()
    """Called in the transaction that gives a chat's notifications its new id."""

    jobs: Mapping[str, JobHandler] = field(default_factory=dict)
    """Kind of job -> the function that does it, in the process that has the chat."""

    on_lead: Callable[[], Awaitable[None]] | None = None
    """Called when this process becomes the leader, before its workers start: another one may have led meanwhile."""

    workers: Sequence[Worker] = ()
    """The workers of the process that leads."""

    local_workers: Sequence[Worker] = ()
    """The workers of every process, for what is about that process."""

    unreadable_rows: Mapping[str, str] = field(default_factory=dict)
    """Table -> the text for a user whose row of it can't be read. Trying again doesn't help with these."""

    close: Callable[[float], Awaitable[None]] | None = None
    """Called after the last update, to finish work before the process ends. The argument is the time in seconds."""

    on_load: Sequence[LoadUpdate[Any]] = ()
    """Called for each update, in the transaction that reads its user."""

    after_update: Sequence[AfterUpdate[Any]] = ()
    """Called after each update."""

    conversation: OpenConversation[Any] | None = None
    """The conversation that other screens lead back to. One feature has it."""

    read_welcome_facts: ReadWelcomeFacts[Any] | None = None
    """Reads what the welcome adds. One feature has it."""

    read_staff_start: ReadStaffPart[Any] | None = None
    """Reads what the start shows to members of staff in place of the welcome."""

    read_staff_help: ReadStaffPart[Any] | None = None
    """Reads what `/help` shows to members of staff first."""

    on_idle_message: Sequence[TakeIdleMessage[Any, Any]] = ()
    """Called for each message that answers no question of the conversation. Each returns whether it has answered."""

    answer_inline_query: AnswerInlineQuery | None = None
    """Answers inline queries. One feature has it."""

    order_actions: Mapping[Any, ButtonAction[Any, Any]] = field(default_factory=dict)
    """Action of an order's button -> the function that does it. Orders do the others themselves."""

    recipient_actions: Mapping[Any, ButtonAction[Any, Any]] = field(default_factory=dict)
    """Action of a saved recipient's button -> the function that does it. Recipients do the others themselves."""

    recipient_buttons: Sequence[MakeButton[Any]] = ()
    """Make the buttons that the feature adds to the page of a saved recipient."""

    start_buttons: Sequence[MakeStartButton] = ()
    """Make the buttons that the feature adds to the welcome."""

    request_steps: Mapping[Any, Any] = field(default_factory=dict)
    """Question of a draft that becomes a payment request -> its `StepHandler`. Checkout has those of orders."""

    show_placed_request: ButtonAction[Any, Any] | None = None
    """Shows the payment request that a draft has become. One feature has it."""

    order_listeners: Sequence[OrderListener[Any, Any]] = ()
    """Called in the transaction that changes an order."""

    describe_ticket: DescribeTicket[Any, Any] | None = None
    """Describes the ticket about an order with a problem. One feature has it."""

    settings_sections: Sequence[SettingsPart[Any]] = ()
    """The feature's sections of the settings."""

    on_zone_changed: Sequence[OnZoneChanged[Any]] = ()
    """Called in the transaction that saves a user's new time zone."""

    on_blocked: Sequence[OnBlocked] = ()
    """Called in the transaction that saves that a user has blocked the bot."""

    alarm_subjects: Mapping[Any, LoadAlarmSubject[Any]] = field(default_factory=dict)
    """Kind of alarm -> the function that reads the subject of such alarms (`staff.alarm_subjects`)."""

    audit_terms: Any = None
    """The feature's `AuditTerms`, for its entries in the audit log."""

    user_data: Any = None
    """The feature's `UserData`: how it shows, exports and deletes data about a user (`users.user_data`)."""


ONLY_ONE = ("conversation", "read_welcome_facts", "describe_ticket", "show_placed_request", "answer_inline_query")
"""What only one feature can have."""

ONE_EACH = ("order_actions", "recipient_actions", "request_steps", "alarm_subjects")
"""What only one feature can have for each key."""


class Features:
    """All features of the bot, in the order of `bot/app.py`. It connects them when all are built."""

    def __init__(self, *features: Feature) -> None:
        self._features: tuple[Feature, ...] = ()
        self.connect(features)

    def connect(self, features: Sequence[Feature]) -> None:
        """Set the features.

        Raises:
            ValueError: two features have what only one can have.
        """
        for slot in ONLY_ONE:
            owners = [feature.name for feature in features if getattr(feature, slot) is not None]
            if len(owners) > 1:
                raise ValueError(f"{' and '.join(owners)} both have {slot}")
        for slot in ONE_EACH:
            keys = [key for feature in features for key in getattr(feature, slot)]
            if twice := {key.name for key in keys if keys.count(key) > 1}:
                raise ValueError(f"two features have {slot} for {', '.join(sorted(twice))}")
        self._features = tuple(features)

    def __iter__(self) -> Iterator[Feature]:
        """Iterate over the features in their order."""
        return iter(self._features)
