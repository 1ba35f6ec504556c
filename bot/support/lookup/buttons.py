"""The buttons of lookups, and the query that such a button holds: what is listed, and from which place on."""

import string
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.support.lookup.query import Sought

LONGEST: Final = 50
FIELD, VALUE = "~", ","
DIGITS: Final = string.digits + string.ascii_lowercase
MINUTE: Final = 60


class LookupPage(StrEnum):
    """What a button of a lookup shows."""

    ORDER = "order"
    ORDERS_LIKE = "like"
    ORDERS_FOUND = "find"
    ORDERS_OF_USER = "orders"
    USER = "person"
    TICKETS_OF_USER = "matters"
    TICKETS = "tickets"


@dataclass(frozen=True)
class LookupButton(Callback, prefix="lu"):
    """A button to a page; `query` is a reference, an id, or what `place` or `finding` wrote."""

    page: LookupPage
    query: Annotated[str, Pattern(rf"[^\n]{{0,{LONGEST}}}")]


def place(of: object, offset: int = 0) -> str:
    """A page of the list of something: "1001~6"."""
    return f"{of}{FIELD}{offset}"


def read_place(query: str) -> tuple[str, int]:
    """What `place` wrote; the first page where it names none."""
    of, _, offset = query.partition(FIELD)
    return of, _offset(offset)


def finding(sought: Sought, offset: int = 0) -> str | None:
    """A page of what was found; None where that is too much for a button."""
    fields = (
        sought.code,
        VALUE.join(map(_short, sought.idr)),
        VALUE.join(map(_short, sought.sats)),
        _minutes(sought.since),
        _minutes(sought.until),
        str(offset),
    )
    written = FIELD.join(fields)
    is_read_back = read_finding(written) == (sought, offset)
    return written if is_read_back and len(written.encode()) <= LONGEST else None


def read_finding(query: str) -> tuple[Sought, int] | None:
    """What `finding` wrote, or None."""
    try:
        code, idr, sats, since, until, offset = query.split(FIELD)
        return (
            Sought(code=code, idr=_values(idr), sats=_values(sats), since=_moment(since), until=_moment(until)),
            _offset(offset),
        )
    except (ValueError, OverflowError, OSError):
        return None


def _offset(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len("9999") else 0


def _short(number: int) -> str:
    digits = ""
    while number:
        number, last = divmod(number, len(DIGITS))
        digits = DIGITS[last] + digits
    return digits or DIGITS[0]


def _values(text: str) -> tuple[int, ...]:
    """The numbers; none above what a column takes."""
    values = tuple(int(each, len(DIGITS)) for each in text.split(VALUE)) if text else ()
    if not all(0 <= value < 2**63 for value in values):
        raise ValueError("not an amount")
    return values


def _minutes(moment: datetime | None) -> str:
    return "" if moment is None else _short(int(moment.timestamp()) // MINUTE)


def _moment(text: str) -> datetime | None:
    return datetime.fromtimestamp(int(text, len(DIGITS)) * MINUTE, UTC) if text else None
