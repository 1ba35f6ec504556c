"""Why a call to Telegram brought nothing, told apart by what it means for whoever was to read the message.

Beside python-telegram-bot's own errors (400, 401, 403, 404, 409)::

    telegram.error.TelegramError
    ├── NetworkError
    │   ├── Unsent       surely did nothing: no connection, or never tried
    │   └── Unanswered   may have been carried out: no answer in time, connection cut, 5xx, unreadable answer
    └── SlowDown         429: surely did nothing; `seconds` until the next try
    TokenRefused         ends the bot

`BadRequest` and `TimedOut` are `NetworkError`s too, in python-telegram-bot's tree: match them first.
"""

from telegram.error import NetworkError, TelegramError


class Unsent(NetworkError):
    """Not a byte of the request has left this machine: repeating it can't double anything."""


class Unanswered(NetworkError):
    """Telegram may have carried the request out; repeating it may double a message."""


class SlowDown(TelegramError):
    """Telegram refused the call for its frequency (429) and did nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many requests: wait {seconds:g} seconds")
        self.seconds = seconds


class TokenRefused(Exception):
    """Telegram doesn't know our token (any more): nothing can be done without another one."""

    def __init__(self) -> None:
        super().__init__("Telegram refuses the bot's token: it was revoked, or is not the one that was meant")
