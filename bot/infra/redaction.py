"""Removal of secrets from every log line and traceback, including those of libraries.

Telegram's addresses contain the bot's token, and libraries log addresses. So these libraries log less, and `redact`
also rewrites every finished line. At that point no nested field can hide a secret.
"""

import logging
import re
import sys
import traceback
from types import TracebackType

LIBRARIES = ("httpx", "httpcore", "aiohttp", "alembic", "telegram", "asyncio", "urllib3")

# Each secret: what a text with it has in lower case, which is found faster, then what is replaced, and by what.
_SECRETS = (
    # In an address in any form. Elsewhere only a long value, so that a time of day isn't removed.
    (
        re.compile(r"bot\d"),
        re.compile(r"\b(bot)\d+(?::|%3A)[^/\s\"'?#]+", re.IGNORECASE),
        r"\1<token>",
    ),
    (
        re.compile(r":[a-z0-9_-]{20}|%3a"),
        re.compile(r"\b\d{3,}(?::|%3[Aa])[A-Za-z0-9_-]{20,}"),
        "<token>",
    ),
    # The address of a wallet page shows the invoice.
    (re.compile(r"/p/"), re.compile(r"(/p/)[A-Za-z0-9_-]{32}"), r"\1<token>"),
    # The address to which Telegram posts updates.
    (re.compile(r"/telegram/"), re.compile(r"(/telegram/)[A-Za-z0-9_-]{32}"), r"\1<token>"),
    (
        re.compile(r"pk_"),
        re.compile(r"\b(pk_[A-Za-z]+_[A-Za-z0-9_-]+)\.[^\s\"',;)\]}>]+"),
        r"\1.<secret>",
    ),
)


def redact(text: str) -> str:
    """Return `text` without bot tokens and without the secret half of API keys (settlement API, 1)."""
    lowered = text.lower()
    for sign, pattern, replacement in _SECRETS:
        if sign.search(lowered):
            text = pattern.sub(replacement, text)
    return text


class RedactingFormatter(logging.Formatter):
    """Format with another formatter, traceback included, and remove the secrets from the result."""

    def __init__(self, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted record without secrets."""
        return redact(self._inner.format(record))


def install_redaction() -> None:
    """Add `redact` to every existing log handler and to the report of uncaught exceptions.

    Call it once, after logging is configured. More calls are harmless.
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
    """Report an uncaught exception without secrets. Used as `sys.excepthook`."""
    sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))


def quiet_library_logs() -> None:
    """Set libraries that log addresses or messages to warnings and errors only."""
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
