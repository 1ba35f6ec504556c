"""What every teller of news shares: how a reader is met, and what the outbox keeps of an attempt."""

from collections.abc import Awaitable, Callable, Mapping

from bot.actions.ports import News, Person, TellLater, Told, Untellable
from bot.chat.messenger import (
    Delivered,
    Gone,
    Invalid,
    Moved,
    NotModified,
    Outcome,
    TryLater,
    Unreachable,
)
from bot.i18n import Translator

Telling = Told | TellLater | Untellable
Tell = Callable[[News, Person | None, Translator], Awaitable[Telling]]
"""One attempt at one piece of news for its reader, in their language."""

Tellers = Mapping[str, Tell]
"""Kinds of news that are about no order, and who tells them. A kind ends before its first colon."""


def marked(news: News, t: Translator, text: str) -> str:
    """The text of a piece of news; one that may have arrived before says so."""
    return f"{text}\n\n{t('news.again')}" if news.maybe_told else text


def kept(outcome_of: Outcome) -> Told | TellLater | Untellable:
    """What the outbox keeps of a messenger's outcome."""
    match outcome_of:
        case Delivered(message_id):
            return Told(message_id)
        case NotModified() | Gone():
            return Told()
        case TryLater(after, maybe_told):
            return TellLater(after, maybe_told)
        case Unreachable(reason):
            return Untellable(reason, whole_chat=True)
        case Moved():
            return Untellable("the chat has moved", whole_chat=True)
        case Invalid(description):
            return Untellable(description)
