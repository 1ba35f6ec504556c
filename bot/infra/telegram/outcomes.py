"""Errors and outcomes of calls to Telegram: whether the message can have arrived, and what to do then.

The errors add to python-telegram-bot's own (400, 401, 403, 404, 409)::

    telegram.error.TelegramError
    ├── NetworkError
    │   ├── Unsent       certainly did nothing: no connection, or never tried
    │   └── Unanswered   may have been executed: no answer in time, connection lost, unreadable answer
    │       └── ServerError   the same, with a 5xx
    └── SlowDown         429: certainly did nothing. `seconds` until the next try
    TokenRefused         ends the bot

`BadRequest` and `TimedOut` are `NetworkError`s too, in python-telegram-bot's tree: match them first.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field

import structlog
from telegram import Message
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, NetworkError, TelegramError

from bot.infra.redaction import redact

log = structlog.get_logger(__name__)


class Unsent(NetworkError):
    """No byte of the request left this machine, so it can be repeated safely."""


class Unanswered(NetworkError):
    """Telegram may have executed the request. A repetition can send a message twice."""


class ServerError(Unanswered):
    """Telegram answered with a 5xx. It may have executed the request."""


class SlowDown(TelegramError):
    """Telegram rejected the call because of too many requests (429), and did nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many requests: wait {seconds:g} seconds")
        self.seconds = seconds


class TokenRefused(Exception):
    """Telegram rejects the bot's token, so the bot can't work without another one."""

    def __init__(self) -> None:
        super().__init__("Telegram refuses the bot's token: it was revoked, or is not the one that was meant")


SOON_SECONDS = 1.0
AFTER_SILENCE_SECONDS = 3.0
AFTER_REFUSED_TOKEN_SECONDS = 60.0

_UNCHANGED = ("message is not modified",)
_TOO_OLD = "message can't be deleted"
_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message can't be edited",
    _TOO_OLD,
    "there is no text in the message to edit",
    "there is no caption in the message to edit",
    "message identifier is not specified",
    "message_id_invalid",
)
# A right that is missing only for pictures or files isn't here: the chat still gets text.
_UNREACHABLE = (
    "chat not found",
    "user not found",
    "user is deactivated",
    "peer_id_invalid",
    "chat_write_forbidden",
    "group chat was deactivated",
    "rights to send text messages",
    "rights to send a message",
    "need administrator rights in the channel",
    "bot was kicked",
    "bot is not a member",
)


@dataclass(frozen=True, slots=True)
class Delivered:
    """Telegram has executed the call. `message_id` is set if the result is a message."""

    message_id: int | None = None
    photo_id: str | None = field(default=None, compare=False)
    """Telegram's id of the picture in the message, if there is one."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The message already has this content, so the call counts as successful."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The message can't be edited or deleted. Send a new one.

    `is_too_old`: the message still exists, but bots can't delete messages after 48 hours.
    """

    is_too_old: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The chat can't be reached: it is blocked, deactivated or unknown, or the bot was removed from it."""

    reason: str


@dataclass(frozen=True, slots=True)
class TryLater:
    """The call failed. Try again in `after` seconds. `maybe_sent`: this attempt may have arrived."""

    after: float
    maybe_sent: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """The group became a supergroup with another id. Nothing was sent."""

    new_chat_id: int


@dataclass(frozen=True, slots=True)
class Invalid:
    """Telegram rejects the message itself. That is a bug of the bot, so trying again doesn't help."""

    description: str


Outcome = Delivered | NotModified | Gone | Unreachable | TryLater | Moved | Invalid


async def run_call(call: Awaitable[Message | bool]) -> Outcome:
    """Await a call of the Bot API and return its outcome. Errors of Telegram and the network become outcomes, too."""
    try:
        answer = await call
    except TelegramError as error:
        return to_outcome(error)
    if not isinstance(answer, Message):
        return Delivered()
    return Delivered(answer.message_id, answer.photo[-1].file_id if answer.photo else None)


def to_outcome(error: TelegramError) -> Outcome:  # noqa: PLR0911  one line for each outcome
    """Return the outcome for an error of a call. The order matters: `BadRequest` is a `NetworkError`."""
    match error:
        case SlowDown(seconds=seconds):
            return TryLater(seconds)
        case ChatMigrated(new_chat_id=new_chat_id):
            return Moved(new_chat_id)
        case Forbidden():
            return Unreachable(redact(error.message))
        case InvalidToken():
            log.error("bot_token_rejected")
            return TryLater(AFTER_REFUSED_TOKEN_SECONDS)
        case BadRequest():
            return _translate_rejection(redact(error.message))
        case Unsent():
            return TryLater(SOON_SECONDS)
        case _:
            return TryLater(AFTER_SILENCE_SECONDS, maybe_sent=True)


def _translate_rejection(description: str) -> Outcome:
    lower = description.lower()
    if _contains_any(lower, _UNCHANGED):
        return NotModified()
    if _contains_any(lower, _GONE):
        return Gone(is_too_old=_TOO_OLD in lower)
    if _contains_any(lower, _UNREACHABLE):
        return Unreachable(description)
    log.error("message_rejected", reason=description)
    return Invalid(description)


def _contains_any(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)
