"""What every teller of news shares: how a reader is met, and what the outbox keeps of an attempt."""

from collections.abc import Awaitable, Callable, Mapping

from bot.infra.i18n import Translator
from bot.infra.outbox.model import ChatMoved, Notification, RetryLater, Sent, Undeliverable
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
from bot.users.model import Person

Telling = Sent | RetryLater | Undeliverable
Tell = Callable[[Notification, Person | None, Translator], Awaitable[Telling]]
"""One attempt at one piece of news for its reader, in their language."""

Tellers = Mapping[str, Tell]
"""Kinds of news that are about no order, and who tells them. A kind ends before its first colon."""


def marked(news: Notification, t: Translator, text: str) -> str:
    """The text of a piece of news; one that may have arrived before says so."""
    return f"{text}\n\n{t('news.again')}" if news.maybe_told else text


async def tell_text(
    messenger: Messenger,
    news: Notification,
    t: Translator,
    screen: Screen,
    *,
    lane: Lane,
    silent: bool = False,
    reply_to: int | None = None,
    topic_id: int | None = None,
) -> Telling:
    """Tell a piece of news by a message of its own, and say what the outbox keeps of that."""
    text = marked(news, t, screen.text)
    return kept(
        await messenger.send_text(
            news.chat_id, text, screen.keyboard, lane=lane, silent=silent, reply_to=reply_to, topic_id=topic_id
        )
    )


def kept(outcome_of: Outcome) -> Sent | RetryLater | Undeliverable:
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
