"""The query in a button of a lookup: what to list, and from which offset on."""

import string
from datetime import UTC, datetime
from typing import Final

from bot.support.buttons import MAX_QUERY_BYTES
from bot.support.lookup.model import OrderFilter

FIELD, VALUE = "~", ","
DIGITS: Final = string.digits + string.ascii_lowercase
MINUTE: Final = 60


def format_page(subject: object, offset: int = 0) -> str:
    """Return the query for a page of a list, such as "1001~6"."""
    return f"{subject}{FIELD}{offset}"


def parse_page(query: str) -> tuple[str, int]:
    """Return the arguments of `format_page`. The offset is 0 if the query has none."""
    subject, _, offset = query.partition(FIELD)
    return subject, _parse_offset(offset)


def format_search(wanted: OrderFilter, offset: int = 0) -> str | None:
    """Return the query for a page of matching orders, or None if it is too long for a button."""
    fields = (
        wanted.code,
        VALUE.join(map(_to_base36, wanted.idr)),
        VALUE.join(map(_to_base36, wanted.sats)),
        VALUE.join(wanted.parts),
        _format_minutes(wanted.since),
        _format_minutes(wanted.until),
        str(offset),
    )
    query = FIELD.join(fields)
    is_read_back = parse_search(query) == (wanted, offset)
    return query if is_read_back and len(query.encode()) <= MAX_QUERY_BYTES else None


def parse_search(query: str) -> tuple[OrderFilter, int] | None:
    """Return the arguments of `format_search`, or None if the query isn't its result."""
    try:
        code, idr, sats, parts, since, until, offset = query.split(FIELD)
        return (
            OrderFilter(
                code=code,
                idr=_parse_values(idr),
                sats=_parse_values(sats),
                parts=tuple(parts.split(VALUE)) if parts else (),
                since=_parse_minutes(since),
                until=_parse_minutes(until),
            ),
            _parse_offset(offset),
        )
    except (ValueError, OverflowError, OSError):
        return None


def _parse_offset(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len("9999") else 0


def _to_base36(number: int) -> str:
    digits = ""
    while number:
        number, last = divmod(number, len(DIGITS))
        digits = DIGITS[last] + digits
    return digits or DIGITS[0]


def _parse_values(text: str) -> tuple[int, ...]:
    """Return the numbers of a field. Raise `ValueError` for one that no column can hold."""
    values = tuple(int(each, len(DIGITS)) for each in text.split(VALUE)) if text else ()
    if not all(0 <= value < 2**63 for value in values):
        raise ValueError("not an amount")
    return values


def _format_minutes(moment: datetime | None) -> str:
    return "" if moment is None else _to_base36(int(moment.timestamp()) // MINUTE)


def _parse_minutes(text: str) -> datetime | None:
    return datetime.fromtimestamp(int(text, len(DIGITS)) * MINUTE, UTC) if text else None
