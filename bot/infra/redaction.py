"""Keeps secrets out of every log line and traceback, whoever writes them.

Telegram's addresses hold the bot's token, and libraries log addresses. So those libraries are quieted *and* every
finished line goes through `redact`: one that was rewritten at its end can't have been missed in a nested field.
"""

import logging
import re
import sys
import traceback
from types import TracebackType

LIBRARIES = ("httpx", "httpcore", "aiohttp", "alembic", "telegram", "asyncio", "urllib3")

_SECRETS = (
    # In an address, whatever its form; elsewhere only what is long enough not to be a time of day.
    (re.compile(r"\b(bot)\d+(?::|%3A)[^/\s\"'?#]+", re.IGNORECASE), r"\1<token>"),
    (re.compile(r"\b\d{3,}(?::|%3A)[A-Za-z0-9_-]{20,}", re.IGNORECASE), "<token>"),
    # Whoever has a wallet page's address sees its invoice.
    (re.compile(r"(/p/)[A-Za-z0-9_-]{32}"), r"\1<token>"),
    (re.compile(r"\b(pk_[A-Za-z]+_[A-Za-z0-9_-]+)\.[^\s\"',;)\]}>]+"), r"\1.<secret>"),
)


def redact(text: str) -> str:
    """`text` without bot tokens, and without the secret half of API keys (settlement API, 1)."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class RedactingFormatter(logging.Formatter):
    """Formats as another formatter does, traceback included, and removes the secrets from the result."""

    def __init__(self, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """One finished line or several, without secrets."""
        return redact(self._inner.format(record))


def install_redaction() -> None:
    """Let every handler that exists now, and the report of an uncaught exception, pass through `redact`.

    To be called once, after logging has been set up. Calling it again is harmless.
    """
    loggers = [logging.getLogger(), *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    if logging.lastResort is not None:
        handlers.append(logging.lastResort)
    for handler in handlers:
        if not isinstance(handler.formatter, RedactingFormatter):
            handler.setFormatter(RedactingFormatter(handler.formatter))
    sys.excepthook = report_uncaught


def report_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Stand in for `sys.excepthook`."""
    sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))


def quiet_library_logs() -> None:
    """Let libraries that log addresses or messages speak of warnings and errors only."""
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
