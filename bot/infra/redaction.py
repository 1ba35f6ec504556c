"""Removal of secrets from every log line and traceback, including those of libraries.

Telegram's addresses contain the bot's token, and libraries log addresses. So these libraries log less, and `redact`
also rewrites every finished line. At that point no nested field can hide a secret.

Secrets are found in two ways. What looks like one is removed, whoever it belongs to: an old token, or the token of
another bot. The values of the settings are removed whatever they look like (`know_secrets`).
"""

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Final
from urllib.parse import quote, quote_plus

LIBRARIES = ("httpx", "httpcore", "aiohttp", "aiosqlite", "alembic", "telegram", "asyncio", "sqlalchemy", "urllib3")

SHORTEST_KNOWN: Final = 8
"""Shorter values aren't removed by value, because they are parts of ordinary words."""

SHORTEST_ANYWHERE: Final = 16
"""Shorter values are removed only as whole words."""

REMOVED: Final = "<secret>"

_ANY_CASE = re.IGNORECASE | re.ASCII

# Each secret: what a text with it has in lower case, which is found faster, then what is replaced, and by what.
_SECRETS = (
    # In an address in any form. Elsewhere only a long value, so that a time of day isn't removed.
    (
        re.compile(r"bot\d"),
        re.compile(r"\b(bot)\d+(?::|%(?:25)*3A)[^/\s\"'?#]+", re.IGNORECASE),
        r"\1<token>",
    ),
    (
        re.compile(r":[a-z0-9_-]{20}|%(?:25)*3a"),
        re.compile(r"(?:\b\d{3,}|\d{6,20})(?::|%(?:25)*3[Aa])[A-Za-z0-9_-]{20,}"),
        "<token>",
    ),
    # The address of a wallet page shows the invoice.
    (re.compile(r"/p/"), re.compile(r"(/p/)[A-Za-z0-9_-]{32}"), r"\1<token>"),
    # Telegram quotes a button's address that it rejects: that of a receipt's check, and of a chat with the recipient.
    (re.compile(r"/verify/|wa\.me/"), re.compile(r"(/verify/|wa\.me/)[^\s\"']+"), rf"\1{REMOVED}"),
    # The address to which Telegram posts updates.
    (re.compile(r"/telegram/"), re.compile(r"(/telegram/)[A-Za-z0-9_-]{32}"), r"\1<token>"),
    # The secret half of an API key (settlement API, 5.3).
    (
        re.compile(r"pk_"),
        re.compile(r"(pk_[A-Za-z]+_[^\s\"'.<>]{1,128})\.[^\s\"',;)\]}>]+"),
        rf"\1.{REMOVED}",
    ),
    # The password in an address, up to its last @. A port isn't one.
    (
        re.compile(r"://\S*@"),
        re.compile(r"(://[^\s:/@\"']{0,128}):(?!\d{1,5}[/?#])[^\s\"']*@", re.ASCII),
        rf"\1:{REMOVED}@",
    ),
    # A header, and a name with its value: `x-api-key: …`, `"password": "…"`, `(b'authorization', b'Bearer …')`.
    (
        re.compile(r"api[-_]?key|authorization|cookie|passw|secret[-_]token|(?:http|bot)_token|encryption_keys"),
        re.compile(
            r"((?:api[-_]?key|authorization|cookie|password|passwd|secret[-_]token|(?:http|bot)_token|encryption_keys)"
            r"(?:\\?[\"']?\s*[:=]\s*(?:b?\\?[\"'])?|[\"']\s*,\s*b[\"'])(?:(?:bearer|basic)\s+)?+)"
            rf"(?![^\s\"'\\,;)}}\]&]*{REMOVED})[^\s\"'\\,;)}}\]&]+",
            _ANY_CASE,
        ),
        rf"\1{REMOVED}",
    ),
    (
        re.compile(r"bearer|basic"),
        re.compile(r"\b((?:bearer|basic)(?:\s+|%20|\+))[A-Za-z0-9._~+/=-]{16,}(?<!\.)", _ANY_CASE),
        rf"\1{REMOVED}",
    ),
    # 32 bytes in base64, as `new-key` prints keys.
    (
        re.compile(r"[a-z0-9_+/-]{43}="),
        re.compile(r"(?<![A-Za-z0-9_+/-])[A-Za-z0-9_+/-]{43}="),
        REMOVED,
    ),
)


class _Known:
    """The values of the secrets that this process has."""

    def __init__(self) -> None:
        self.values: tuple[str, ...] = ()
        self.words: re.Pattern[str] | None = None

    def add(self, values: Iterable[str]) -> None:
        """Add values, in every form in which libraries write them."""
        forms = {form for value in values if len(value) >= SHORTEST_KNOWN for form in _forms_of(value)}
        known = forms.union(self.values)
        # A value can be part of another one.
        self.values = tuple(sorted(known, key=lambda value: (-len(value), value)))
        words = [re.escape(value) for value in self.values if len(value) < SHORTEST_ANYWHERE]
        self.words = re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])") if words else None

    def remove_from(self, text: str) -> str:
        """Return `text` without the values."""
        found = [value for value in self.values if value in text]
        if not found:
            return text
        for value in found:
            if len(value) >= SHORTEST_ANYWHERE:
                text = text.replace(value, REMOVED)
        return self.words.sub(REMOVED, text) if self.words is not None else text


_known = _Known()


def know_secrets(values: Iterable[str]) -> None:
    """Remove these values from every log line from now on, whatever they look like."""
    _known.add(values)


def _forms_of(value: str) -> set[str]:
    escaped = quote(value, safe="")
    in_lower_case = re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), escaped)
    texts = {value, escaped, in_lower_case, quote(value), quote_plus(value), json.dumps(value)[1:-1], repr(value)[1:-1]}
    return {text for text in texts if len(text) >= SHORTEST_KNOWN}


def redact(text: str) -> str:
    """Return `text` without secrets."""
    lowered = text.lower()
    for sign, pattern, replacement in _SECRETS:
        if sign.search(lowered):
            text = pattern.sub(replacement, text)
    return _known.remove_from(text)


class RedactingFormatter(logging.Formatter):
    """Format with another formatter, traceback included, and remove the secrets from the result."""

    def __init__(self, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted record without secrets."""
        return redact(self._inner.format(record))


def install_redaction() -> None:
    """Add `redact` to every existing log handler and to the reports of uncaught exceptions.

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
    # A test framework can have its own.
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _report_unraisable
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _report_in_thread


def report_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an uncaught exception without secrets. Used as `sys.excepthook`."""
    sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))


def _report_in_thread(found: threading.ExceptHookArgs) -> None:
    if found.exc_type is not SystemExit:
        report_uncaught(found.exc_type, found.exc_value or found.exc_type(), found.exc_traceback)


def _report_unraisable(found: "sys.UnraisableHookArgs") -> None:
    report_uncaught(found.exc_type, found.exc_value or found.exc_type(), found.exc_traceback)


def quiet_library_logs() -> None:
    """Set libraries that log addresses, messages or values of statements to warnings and errors only."""
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
