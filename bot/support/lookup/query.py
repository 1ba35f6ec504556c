"""Parse the query that support finds orders by: a destination, a sum and a day, in any order ("bca 500rb 17/8").

A sum with several meanings is searched with all of them. Words without a meaning are reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Final

from bot.checkout.parser.sums import Sum, find_sums, list_amounts
from bot.checkout.parser.words import Word, words_of
from bot.core.date_ranges import Span, get_day_span, parse_span
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from bot.recipients.search import search
from bot.settlement.model import PayoutMethod
from bot.support.lookup.model import OrderFilter

MAX_CHARACTERS: Final = 120
"""Characters of a query."""

MAX_DAY_WORDS: Final = 7
"""Most words that name a period: "17 agu 2026 sampai 18 agu 2026"."""

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

    First we look for sums with a unit ("1.5 jt" isn't the first of May), then for a day, then for other numbers.
    """
    words = words_of(text)
    if len(text) > MAX_CHARACTERS or not words:
        return ParsedQuery(wanted=OrderFilter(), unread=(text[:MAX_CHARACTERS].strip(),) if text.strip() else ())
    sums = find_sums(words)
    left = _without(words, sums)
    span, left = _find_day(left, today, zone)
    bare, left = _find_bare_sums(left, methods)
    amounts = (*(amount for each in sums for amount in list_amounts(each.value)), *bare)
    candidates = _find_destinations(left, methods)
    return ParsedQuery(
        wanted=OrderFilter(
            code=candidates[0].code if len(candidates) == 1 else "",
            idr=_values(amounts, "IDR"),
            sats=_values(amounts, "SAT"),
            since=span.since if span else None,
            until=span.until if span else None,
        ),
        candidates=candidates if len(candidates) > 1 else (),
        unread=() if candidates else tuple(word.text for word in left),
    )


def _values(amounts: Sequence[Amount], currency: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(each.value for each in amounts if each.currency == currency))


def _without(words: Sequence[Word], sums: Sequence[Sum]) -> list[Word]:
    taken = {place for each in sums for place in range(each.start, each.stop)}
    return [word for place, word in enumerate(words) if place not in taken]


def _find_day(words: list[Word], today: date, zone: tzinfo) -> tuple[Span | None, list[Word]]:
    """Return the period that the most words in a row name, and the other words."""
    for length in range(min(MAX_DAY_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = _parse_span(" ".join(word.folded for word in words[start : start + length]), today, zone)
            if span is not None:
                return span, [*words[:start], *words[start + length :]]
    return None, words


def _parse_span(text: str, today: date, zone: tzinfo) -> Span | None:
    back = DAYS_BACK.get(text)
    if back is None:
        return parse_span(text, today, zone)
    day = today - timedelta(days=back)
    return get_day_span(day, day, zone)


def _find_bare_sums(words: list[Word], methods: Sequence[PayoutMethod]) -> tuple[list[Amount], list[Word]]:
    """Return the sums without a unit, and the other words. A bank's code ("014") isn't a sum."""
    codes = {method.code for method in methods}
    amounts, others = list[Amount](), list[Word]()
    for word in words:
        found = () if word.text in codes or not word.text[0].isdecimal() else _read_amounts(word.text)
        amounts.extend(found)
        if not found:
            others.append(word)
    return amounts, others


def _read_amounts(text: str) -> tuple[Amount, ...]:
    try:
        value = parse_amount(text)
    except Rejection:
        return ()
    return value.readings if isinstance(value, Ambiguous) else (value,)


def _find_destinations(words: Sequence[Word], methods: Sequence[PayoutMethod]) -> tuple[PayoutMethod, ...]:
    if not words:
        return ()
    found = search(" ".join(word.text for word in words), methods)
    return (found.hit,) if found.hit else found.candidates
