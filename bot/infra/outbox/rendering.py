"""The registry of renderers, which turn notifications into messages, and helpers for all of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.infra.outbox.model import (
    ChatMoved,
    DeliveryOutcome,
    LeftToOthers,
    Notification,
    NotificationKind,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.payload import PayloadUnreadable, unpack
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
    """A renderer that needs more rows than the reader's: `read` reads them in the same transaction."""

    read: Callable[[Notification[Any], Transaction], Awaitable[Any]]
    render: Callable[[Notification[Any], Any, Context], Awaitable[DeliveryOutcome]]


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
            return LeftToOthers("its kind is unknown")  # of a later version
        kind, render = self._renderers[notification.kind]
        try:
            readable = unpack(kind, notification)
        except PayloadUnreadable:
            return LeftToOthers("its payload is unknown")  # likewise: JSON that is malformed isn't even read
        if isinstance(render, RenderWithFacts):
            context, facts = await self._open_context(notification.chat_id, partial(render.read, readable))
            return await render.render(readable, facts, context)
        context, _ = await self._open_context(notification.chat_id, None)
        return await render(readable, context)


def _merge(
    features: Iterable[Mapping[NotificationKind, AnyRender[Context]]],
) -> dict[str, tuple[NotificationKind, AnyRender[Context]]]:
    merged: dict[str, tuple[NotificationKind, AnyRender[Context]]] = {}
    for renderers in features:
        if duplicates := merged.keys() & renderers.keys():
            raise ValueError(f"two renderers for {', '.join(sorted(duplicates))}")
        merged.update({kind.value: (kind, render) for kind, render in renderers.items()})
    return merged


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
