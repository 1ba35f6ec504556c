"""Parse the query that support finds orders by: a destination, a sum and a day, in any order ("bca 500rb 17/8").

A bare number can also be the last digits of a recipient's number, and a word a part of a reference or of a service's
id. What has several meanings is searched with all of them. Words without a meaning are reported.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from bot.checkout.parser import words_of
from bot.core.date_ranges import Span, get_day_span, parse_span
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from bot.core.money.tokens import Token
from bot.core.money.typed import LONGEST_PHRASE, kind_of, list_amounts, read_phrase
from bot.orders.order import REFERENCE_ALPHABET
from bot.recipients.search import SearchResult, search
from bot.settlement.model import PayoutMethod
from bot.support.buttons import MAX_QUERY_BYTES
from bot.support.lookup.model import OrderFilter

MAX_CHARACTERS: Final = 120
"""Characters of a query."""

MAX_DAY_WORDS: Final = 7
"""Most words that name a period: "17 agu 2026 sampai 18 agu 2026"."""

MIN_PART: Final = 3
"""Characters of a part of a name, and last digits of a number."""

MAX_PART: Final = 40
PART: Final = re.compile(rf"[0-9A-Za-z_-]{{{MIN_PART},{MAX_PART}}}")
"""What can be a part of a reference or of a service's id."""

MIN_CODE: Final = 5
"""Characters from which a word of letters and digits is searched as a part of a reference, too."""

FIRST_YEAR: Final = 2009
"""The year of the first bitcoin. An earlier number isn't a year."""

DAYS_BACK: Final = {"today": 0, "hari ini": 0, "yesterday": 1, "kemarin": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """The meaning of a query.

    Attributes:
        wanted: the orders to find.
        candidates: the destinations that the text can mean, if there are several. The agent has to choose one.
        unread: the words without a meaning.
    """

    wanted: OrderFilter
    candidates: tuple[PayoutMethod, ...] = ()
    unread: tuple[str, ...] = ()


def parse_query(text: str, methods: Sequence[PayoutMethod], today: date, zone: tzinfo) -> ParsedQuery:
    """Return the meaning of `text`, with destinations of `methods`, and with days in `zone`.

    First we look for sums with a unit ("1.5 jt" isn't the first of May), then for a day, then for other numbers. One
    word alone can also be a part of a reference or of an id.
    """
    tokens, typed = words_of(text), text.strip()
    if len(text) > MAX_CHARACTERS or not tokens:
        return ParsedQuery(wanted=OrderFilter(), unread=(typed[:MAX_CHARACTERS],) if typed else ())
    part = typed if PART.fullmatch(typed) else ""
    found_amounts, left = _find_sums(tokens)
    # A number alone is no year: all orders of a year are too many to look through.
    span, left = (None, left) if part.isdecimal() else _find_day(left, today, zone)
    bare, digits, left = _find_bare_sums(left, methods)
    found = search(" ".join(left), methods) if left else SearchResult()
    if part and left and found.hit is None:
        candidates = found.candidates if part.isalpha() else ()
        return ParsedQuery(wanted=OrderFilter(parts=(part,)), candidates=candidates)
    amounts = (*found_amounts, *bare)
    candidates = (found.hit,) if found.hit else found.candidates
    return ParsedQuery(
        wanted=OrderFilter(
            code=candidates[0].code if len(candidates) == 1 else "",
            idr=_values(amounts, "IDR"),
            sats=_values(amounts, "SAT"),
            parts=(*digits, *((part,) if _is_like_reference(part) else ())),
            since=span.since if span else None,
            until=span.until if span else None,
        ),
        candidates=candidates if len(candidates) > 1 else (),
        unread=() if candidates else tuple(left),
    )


def _is_like_reference(part: str) -> bool:
    """Return whether a word that is a sum ("225rb") can also be a part of a reference."""
    is_mixed = not part.isdecimal() and not part.isalpha()
    return is_mixed and len(part) >= MIN_CODE and set(part.upper()) <= set(REFERENCE_ALPHABET)


def _values(amounts: Sequence[Amount], currency: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(each.value for each in amounts if each.currency == currency))


def _find_sums(tokens: Sequence[Token]) -> tuple[list[Amount], list[str]]:
    """Return the sums that name a unit or a currency, the longest from each token on, and the other words."""
    amounts, words, place = list[Amount](), list[str](), 0
    while place < len(tokens):
        for stop in range(min(len(tokens), place + LONGEST_PHRASE), place, -1):
            phrase = tokens[place:stop]
            found = list_amounts(read_phrase(phrase)) if "".join(map(kind_of, phrase)).strip("nijlogfqz") else ()
            if found:
                amounts += found
                break
        else:
            stop = place + 1
            is_glued = bool(words) and tokens[place].gap in {"", "-", "_"}
            words[-1:] = (
                [words[-1] + tokens[place].gap + tokens[place].text] if is_glued else [*words[-1:], tokens[place].text]
            )
        place = stop
    return amounts, words


def _find_day(words: list[str], today: date, zone: tzinfo) -> tuple[Span | None, list[str]]:
    """Return the period that the most words in a row name, and the other words."""
    for length in range(min(MAX_DAY_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = _parse_span(" ".join(words[start : start + length]).casefold(), today, zone)
            if span is not None:
                return span, [*words[:start], *words[start + length :]]
    return None, words


def _parse_span(text: str, today: date, zone: tzinfo) -> Span | None:
    if text.isdecimal() and int(text) < FIRST_YEAR:
        return None
    back = DAYS_BACK.get(text)
    if back is None:
        return parse_span(text, today, zone)
    day = today - timedelta(days=back)
    return get_day_span(day, day, zone)


def _find_bare_sums(words: list[str], methods: Sequence[PayoutMethod]) -> tuple[list[Amount], list[str], list[str]]:
    """Return the sums without a unit, those that can be the last digits of a number, and the other words.

    A bank's code ("014") isn't a sum.
    """
    codes = {method.code for method in methods}
    amounts, digits, others = list[Amount](), list[str](), list[str]()
    for word in words:
        found = () if word in codes or not word[0].isdecimal() else _read_amounts(word)
        is_part = word.isdecimal() and word not in codes and PART.fullmatch(word) is not None
        amounts.extend(found)
        if is_part:
            digits.append(word)
        if not found and not is_part:
            others.append(word)
    return amounts, digits, others


def _read_amounts(text: str) -> tuple[Amount, ...]:
    try:
        value = parse_amount(text)
    except Rejection:
        return ()
    return value.readings if isinstance(value, Ambiguous) else (value,)


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
