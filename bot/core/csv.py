"""Tables that other programs read: CSV in UTF-8, with times in UTC.

Text from outside can't be taken for a formula by a spreadsheet.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Final

from bot.core.date_ranges import Span, first_and_last_day
from bot.core.text import plain

FORMULA_SIGNS: Final = ("=", "+", "-", "@")
"""What a cell must not begin with: spreadsheets would calculate it."""

MAX_CELL_CHARACTERS: Final = 200
"""Characters of a text from outside."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file about a period: how many orders or entries it is about, and the CSV.

    `content` is None if there are none, or too many for one file.
    """

    count: int
    content: bytes | None


# Names and states repeat: without the cache they take half of the time of a file.
@lru_cache(maxsize=1024)
def format_text(text: str | None) -> str:
    """Return a text from outside on one line, without hidden characters.

    A text that looks like a formula gets an apostrophe in front.
    """
    shown = plain((text or "")[:MAX_CELL_CHARACTERS])[:MAX_CELL_CHARACTERS]
    return f"'{shown}" if shown.startswith(FORMULA_SIGNS) else shown


def format_time(moment: datetime | None) -> str:
    """Return a time in ISO 8601, to the second. Return an empty text for None."""
    return "" if moment is None else moment.isoformat(timespec="seconds")


def write_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """Return rows of cells as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def build_file_name(subject: str, span: Span, zone: tzinfo) -> str:
    """Return the name of a file about a period: with its first and last day, so that files sort by time."""
    first, last = first_and_last_day(span, zone)
    return f"kirim-{subject}-{first}-to-{last}.csv"
