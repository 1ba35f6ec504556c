"""What features declare for their notifications: how they are rendered, and what follows when they were sent.

Renderers turn notifications into messages. Here are their registry and helpers for all of them.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.infra.outbox.model import (
    ChatMoved,
    DeliveryOutcome,
    Notification,
    NotificationKind,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
    Unknown,
)
from bot.infra.outbox.repository import OutboxRepository, PayloadUnreadable, unpack
from bot.infra.telegram.outbound.sender import (
    Delivered,
    Gone,
    Invalid,
    Moved,
    NotModified,
    Outcome,
    TryLater,
    Unreachable,
)

Context = TypeVar("Context")
"""What renderers need for one reader. The outbox only passes it on."""

Render = Callable[[Notification[Any], Context], Awaitable[DeliveryOutcome]]
"""Makes one attempt to send a notification. The payload has the type that the kind names."""

ReadFacts = Callable[[Transaction], Awaitable[Any]]
OpenContext = Callable[[int, ReadFacts | None], Awaitable[tuple[Context, Any]]]
"""Returns the context for the reader of a chat, and facts that it reads in the same transaction."""


@dataclass(frozen=True, slots=True)
class RenderWithFacts(Generic[Context]):
    """A renderer that needs more rows than the reader's: `read` reads them in the same transaction.

    With `shows_state`, the message shows how things are now. So it also stands for the later ones of its kind about the
    subject that wait in the chat.
    """

    read: Callable[[Notification[Any], Transaction], Awaitable[Any]]
    render: Callable[[Notification[Any], Any, Context], Awaitable[DeliveryOutcome]]
    shows_state: bool = False


AnyRender = Render[Context] | RenderWithFacts[Context]


class Renderers(Generic[Context]):
    """The renderers of all features, by kind. It is the `NotificationSender` of the outbox.

    Args:
        open_context: returns the context for the reader of a chat, and the facts that a renderer needs.
        features: the renderers of each feature.

    Raises:
        ValueError: a kind has two renderers.
    """

    def __init__(
        self,
        open_context: OpenContext[Context],
        *features: Mapping[NotificationKind, AnyRender[Context]],
    ) -> None:
        self._open_context = open_context
        self._renderers = _merge(features)

    @property
    def kinds(self) -> frozenset[NotificationKind]:
        """The kinds that have a renderer."""
        return frozenset(kind for kind, _ in self._renderers.values())

    async def send(self, notification: StoredNotification) -> DeliveryOutcome:
        """Make one attempt to send a notification."""
        if notification.kind not in self._renderers:
            return Unknown()
        kind, render = self._renderers[notification.kind]
        try:
            readable = unpack(kind, notification)
        except PayloadUnreadable:
            return Unknown()  # JSON that is malformed isn't even read
        read = partial(_read, render, readable) if isinstance(render, RenderWithFacts) else None
        try:
            context, found = await self._open_context(notification.chat_id, read)
        except StoreDown:
            return RetryLater(0)  # nothing was sent
        if not isinstance(render, RenderWithFacts):
            return await render(readable, context)
        others, facts = found
        return stand_for(others, await render.render(readable, facts, context))


async def _read(
    render: RenderWithFacts[Any], notification: Notification[Any], tx: Transaction
) -> tuple[Sequence[StoredNotification], Any]:
    others = await OutboxRepository(tx).find_alike(notification) if render.shows_state else ()
    return others, await render.read(notification, tx)


def stand_for(others: Sequence[StoredNotification], outcome: DeliveryOutcome) -> DeliveryOutcome:
    """Return the outcome of a message that shows others of its chat, too."""
    return replace(outcome, others=tuple(others)) if isinstance(outcome, Sent) and others else outcome


def _merge(
    features: Iterable[Mapping[NotificationKind, AnyRender[Context]]],
) -> dict[str, tuple[NotificationKind, AnyRender[Context]]]:
    merged: dict[str, tuple[NotificationKind, AnyRender[Context]]] = {}
    for renderers in features:
        if duplicates := merged.keys() & renderers.keys():
            raise ValueError(f"two renderers for {', '.join(sorted(duplicates))}")
        merged.update({kind.value: (kind, render) for kind, render in renderers.items()})
    return merged


FinalResult = Sent | Undeliverable
"""How a notification ended."""

FollowUp = Callable[[Transaction, Notification[Any], FinalResult, datetime], Awaitable[None]]
"""Called in the transaction that saves that a notification was sent or given up. The last argument is the time."""

OnChatUnreachable = Callable[[Transaction, int, datetime], Awaitable[None]]
"""Called when a chat can't be reached, with the chat's id and the time."""

OnChatMoved = Callable[[Transaction, int, int], Awaitable[None]]
"""Called when a chat got another id, with the old id and the new one."""

K = TypeVar("K", bound=str)


def chain_follow_ups(*features: Mapping[K, FollowUp]) -> dict[K, FollowUp]:
    """Return for each kind of notification one follow-up that calls those of all features, in their order."""
    kinds = {kind for feature in features for kind in feature}
    return {kind: _call_in_order([feature[kind] for feature in features if kind in feature]) for kind in kinds}


def _call_in_order(steps: Sequence[FollowUp]) -> FollowUp:
    if len(steps) == 1:
        return steps[0]

    async def follow_up(
        tx: Transaction, notification: Notification[object], result: FinalResult, now: datetime
    ) -> None:
        for step in steps:
            await step(tx, notification, result, now)

    return follow_up


def with_repeat_note(notification: Notification[object], t: Translator, text: str) -> str:
    """Return the text of a notification. If the message may have arrived before, the text says so."""
    return f"{text}\n\n{t('infra.outbox.again')}" if notification.maybe_sent else text


def delivery_outcome(outcome: Outcome) -> DeliveryOutcome:
    """Return the outcome of a notification for the messenger's outcome."""
    match outcome:
        case Delivered(message_id):
            return Sent(message_id)
        case NotModified() | Gone():
            return Sent()
        case TryLater(after, maybe_sent):
            return RetryLater(after, maybe_sent)
        case Unreachable(reason):
            return Undeliverable(reason, whole_chat=True)
        case Moved(new_chat_id):
            return ChatMoved("the chat has moved", whole_chat=True, new_chat_id=new_chat_id)
        case Invalid(description):
            return Undeliverable(description)
