"""Errors of calls to Telegram, by whether the message can have arrived.

They add to python-telegram-bot's own errors (400, 401, 403, 404, 409)::

    telegram.error.TelegramError
    ├── NetworkError
    │   ├── Unsent       certainly did nothing: no connection, or never tried
    │   └── Unanswered   may have been executed: no answer in time, connection lost, unreadable answer
    │       └── ServerError   the same, with a 5xx
    └── SlowDown         429: certainly did nothing. `seconds` until the next try
    TokenRefused         ends the bot

`BadRequest` and `TimedOut` are `NetworkError`s too, in python-telegram-bot's tree: match them first.
"""

from telegram.error import NetworkError, TelegramError


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
