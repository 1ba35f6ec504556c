"""One registry of who turns which kind of notification into a message, and what all of them share."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Generic, TypeVar

from bot.infra.i18n import Translator
from bot.infra.outbox.model import ChatMoved, DeliveryOutcome, Notification, RetryLater, Sent, Undeliverable
from bot.infra.telegram.outbound.sender import (
    Delivered,
    Gone,
    Invalid,
    Lane,
    Messenger,
    Moved,
    NotModified,
    Outcome,
    TryLater,
    Unreachable,
)
from bot.infra.telegram.ui.screen import Screen

Reader = TypeVar("Reader")
"""What the features know about the user who reads a message. The outbox only passes it on."""

Render = Callable[[Notification, Reader, Translator], Awaitable[DeliveryOutcome]]
"""One attempt at a notification for its reader, in their language."""


class Renderers(Generic[Reader]):
    """All features' renderers by the name of the kind (the `NotificationSender` of the outbox).

    Args:
        read: returns the reader of a chat, and the translator for their language.
        features: the renderers of each feature.

    Raises:
        ValueError: two renderers for one kind.
    """

    def __init__(
        self, read: Callable[[int], Awaitable[tuple[Reader, Translator]]], *features: Mapping[str, Render[Reader]]
    ) -> None:
        self._read = read
        self._renderers = _merge(features)

    @property
    def kinds(self) -> frozenset[str]:
        """Return the names of the kinds that have a renderer."""
        return frozenset(self._renderers)

    async def tell(self, notification: Notification) -> DeliveryOutcome:
        """Make one attempt at a notification.

        Raises:
            KeyError: no feature renders its kind.
        """
        render = self._renderers[notification.kind_name]
        reader, t = await self._read(notification.chat_id)
        return await render(notification, reader, t)


def _merge(features: Iterable[Mapping[str, Render[Reader]]]) -> dict[str, Render[Reader]]:
    merged: dict[str, Render[Reader]] = {}
    for renderers in features:
        if twice := merged.keys() & renderers.keys():
            raise ValueError(f"two renderers for {', '.join(sorted(twice))}")
        merged.update(renderers)
    return merged


def marked(notification: Notification, t: Translator, text: str) -> str:
    """Return the text of a notification; one that may have arrived before says so."""
    return f"{text}\n\n{t('news.again')}" if notification.maybe_told else text


async def tell_text(
    messenger: Messenger,
    notification: Notification,
    t: Translator,
    screen: Screen,
    *,
    lane: Lane,
    silent: bool = False,
    reply_to: int | None = None,
    topic_id: int | None = None,
) -> DeliveryOutcome:
    """Send a notification as a message of its own, and return what came of that."""
    text = marked(notification, t, screen.text)
    return kept(
        await messenger.send_text(
            notification.chat_id, text, screen.keyboard, lane=lane, silent=silent, reply_to=reply_to, topic_id=topic_id
        )
    )


def kept(outcome_of: Outcome) -> DeliveryOutcome:
    """What the outbox keeps of a messenger's outcome."""
    match outcome_of:
        case Delivered(message_id):
            return Sent(message_id)
        case NotModified() | Gone():
            return Sent()
        case TryLater(after, maybe_told):
            return RetryLater(after, maybe_told)
        case Unreachable(reason):
            return Undeliverable(reason, whole_chat=True)
        case Moved(new_chat_id):
            return ChatMoved("the chat has moved", whole_chat=True, new_chat_id=new_chat_id)
        case Invalid(description):
            return Undeliverable(description)
