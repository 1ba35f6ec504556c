"""What support agents look up: orders, users and tickets, and the query that they type.

A query names a destination, a sum and a day, in any order ("bca 500rb 17/8"). A bare number can also be the last digits
of a recipient's number, and a word a part of a reference or of a service's id. What has several meanings is searched
with all of them. Words without a meaning are reported.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Generic, TypeVar

from bot.checkout.draft import OrderDraft
from bot.checkout.parser import words_of
from bot.core.date_ranges import Span, get_day_span, parse_span
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, Amount, parse_amount
from bot.core.money.tokens import Token
from bot.core.money.typed import LONGEST_PHRASE, kind_of, list_amounts, read_phrase
from bot.orders.order import REFERENCE_ALPHABET, Order
from bot.recipients.search import SearchResult, search
from bot.settlement.model import PayoutMethod
from bot.support.model import Ticket, TicketFilter
from bot.users.model import User

T_co = TypeVar("T_co", covariant=True)

PAGE_SIZE: Final = 6
"""Orders or tickets on one page of a list."""

LARGEST_ID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """The orders to find: by destination, by a sum or a part of a name, and by time of placing.

    A sum matches the reviewed amount or the amount that the service fixed, in either currency. A part of a name is of
    the reference or of the service's id, or the last digits of the recipient's number. An order needs one of the sums
    and parts. Empty fields match every order. `until` is exclusive.
    """

    code: str = ""
    idr: tuple[int, ...] = ()
    sats: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_name(self) -> bool:
        """Whether the filter is only what can be a part of one order's name."""
        return len(self.parts) == 1 and not (self.code or self.since or self.until)

    @property
    def is_empty(self) -> bool:
        """Whether the filter matches every order."""
        return not (self.code or self.idr or self.sats or self.parts or self.since or self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCounts:
    """How many orders a user has: all, in progress, paid, and paid but failed."""

    orders: int = 0
    in_progress: int = 0
    paid: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Some items of a list, from `offset` on."""

    items: tuple[T_co, ...]
    offset: int = 0
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class TicketPage:
    """A page of tickets with their orders, and the number of tickets in each list."""

    which: TicketFilter
    page: Page[tuple[Ticket, Order | None]]
    counts: dict[TicketFilter, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOverview:
    """What support sees first of a user. `user` is None if only their orders are left.

    `draft` is the order that they are filling in, or could continue.
    """

    user_id: int
    user: User | None
    counts: OrderCounts
    orders: tuple[Order, ...]
    tickets: tuple[Ticket, ...]
    draft: OrderDraft | None = None


def parse_user_id(text: str) -> int | None:
    """Return `text` as a user id, or None if it isn't one."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(LARGEST_ID)) else 0
    return number if 0 < number <= LARGEST_ID else None


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


CHOSEN: Final = "="
"""Before the code of a destination that an agent has chosen for the rest of the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """The meaning of a query.

    Attributes:
        text: the query as it was typed. The buttons of its pages repeat it.
        wanted: the orders to find.
        method: the destination to find orders of.
        candidates: the destinations that the text can mean, if there are several. The agent has to choose one.
        unread: the words without a meaning.
    """

    text: str
    wanted: OrderFilter
    method: PayoutMethod | None = None
    candidates: tuple[PayoutMethod, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search has found: users, and a page of orders."""

    query: ParsedQuery
    users: tuple[int, ...] = ()
    orders: Page[Order] = Page(())


def parse_query(text: str, methods: Sequence[PayoutMethod], today: date, zone: tzinfo) -> ParsedQuery:
    """Return the meaning of `text`, with destinations of `methods`, and with days in `zone`.

    First we look for sums with a unit ("1.5 jt" isn't the first of May), then for a day, then for other numbers. One
    word alone can also be a part of a reference or of an id. After a choice (`CHOSEN`), no other word means a
    destination.
    """
    if text.startswith(CHOSEN):
        code, _, rest = text.removeprefix(CHOSEN).partition(" ")
        wanted = parse_query(rest, methods, today, zone).wanted
        method = next((method for method in methods if method.code == code), None)
        return ParsedQuery(
            text=text,
            method=method,
            wanted=replace(wanted, code=code, parts=tuple(filter(str.isdecimal, wanted.parts))),
        )
    tokens, typed = words_of(text), text.strip()
    if len(text) > MAX_CHARACTERS or not tokens:
        return ParsedQuery(text=text, wanted=OrderFilter(), unread=(typed[:MAX_CHARACTERS],) if typed else ())
    part = typed if PART.fullmatch(typed) else ""
    found_amounts, left = _find_sums(tokens)
    # A number alone is no year: all orders of a year are too many to look through.
    span, left = (None, left) if part.isdecimal() else _find_day(left, today, zone)
    bare, digits, left = _find_bare_sums(left, methods)
    found = search(" ".join(left), methods) if left else SearchResult()
    if part and left and found.hit is None:
        candidates = found.candidates if part.isalpha() else ()
        return ParsedQuery(text=text, wanted=OrderFilter(parts=(part,)), candidates=candidates)
    amounts = (*found_amounts, *bare)
    candidates = (found.hit,) if found.hit else found.candidates
    method = candidates[0] if len(candidates) == 1 else None
    return ParsedQuery(
        text=text,
        wanted=OrderFilter(
            code=method.code if method else "",
            idr=_values(amounts, "IDR"),
            sats=_values(amounts, "SAT"),
            parts=(*digits, *((part,) if _is_like_reference(part) else ())),
            since=span.since if span else None,
            until=span.until if span else None,
        ),
        method=method,
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


FIELD: Final = "~"


def format_page(subject: object, offset: int = 0) -> str:
    """Return the query for a page of a list, such as "1001~6"."""
    return f"{subject}{FIELD}{offset}"


def parse_page(query: str) -> tuple[str, int]:
    """Return the arguments of `format_page`. The offset is 0 if the query has none."""
    subject, _, offset = query.rpartition(FIELD) if FIELD in query else (query, "", "")
    is_offset = offset.isascii() and offset.isdecimal() and len(offset) <= len("9999")
    return subject, int(offset) if is_offset else 0
