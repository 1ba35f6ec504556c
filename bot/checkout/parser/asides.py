"""What in a line is neither the number nor the amount: a time, a date, a code, a house, a count, or other money."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    AFTER_CLOCK,
    ASIDE_LABELS,
    BEFORE_ONLY,
    BUSINESS,
    COUNTED,
    CURRENCIES_TOO,
    FILLERS,
    KNOWN_NAMES,
    LEADS_TO_NAME,
    MONTHS,
    NUMBER_LABELS,
    NUMBERED_NAMES,
    PHONE_LABELS,
    TITLES,
)
from bot.core.money.foreign import (
    FOREIGN_LANDS,
    has_foreign_sign,
    is_foreign,
    is_foreign_amount,
    is_foreign_beside_an_amount,
)
from bot.core.money.tokens import AMOUNT_LABELS, CURRENCIES, SCALES, WHOLE_NUMBER, Token
from bot.core.money.typed import kind_of

_UNITS: Final = frozenset({*CURRENCIES, *(scale for scale in SCALES if len(scale) > 1)})
_CLOCK: Final = re.compile(r"\d{1,2}(?::\d{2}){1,2}")
_DATE: Final = re.compile(
    r"(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|1[0-2])\1(?:(?:19|20)?\d{2})"
    r"|(?:19|20)\d{2}([-./])(?:0?[1-9]|1[0-2])\2(?:0?[1-9]|[12]\d|3[01])"
)
_DAY: Final = re.compile(r"0?[1-9]|[12]\d|3[01]")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_TIMES: Final = frozenset({"jam", "pukul", "pkl", "tgl", "tanggal"})
_OF_DAYS: Final = frozenset({"bulan", "bln", "tahun", "thn"})
_NEXT: Final = frozenset({"ini", "depan", "lalu"})
_BETWEEN: Final = (NUMBER_LABELS - ACCOUNT_LABELS) | {"bank"}
"""What is between a label and its number."""

_LEAST_GLUED: Final = 7
"""Digits of a number that is written together with the word before it ("bca1234567890"). Fewer are of a code."""

_LOOKALIKE: Final = re.compile(r"[oOlISBxX]$")
_BEHIND_LABEL: Final = frozenset(' #.:"([*')
"""What can be between a label and its number."""

_MOST_COUNTED: Final = 3
"""Maximum of digits in a count. More digits are an amount or a number."""


def find_asides(tokens: Sequence[Token]) -> tuple[set[int], set[int]]:
    """Return the places of the labels and digits that are a time, a date or a code, and of digits that may be.

    A label ("jam", "kode", "RT") counts for one number. If more digits follow, it is unclear where they belong.
    """
    found, unclear, place = set[int](), set[int](), 0
    while place < len(tokens):
        stop = max((rule(tokens, place) for rule in (_code, _date, _time, _labelled)), default=place)
        start = place + 1 if is_numbered_name(tokens, place + 1) else place
        stop = place + 2 if start > place else stop
        end = _end_of_pieces(tokens, stop) if stop > place else stop
        if end > stop:
            unclear |= set(range(stop - 1, end))
            found |= set(range(start, stop - 1))
        else:
            found |= set(range(start, stop))
        place = max(end, place + 1)
    return found, unclear


def _end_of_pieces(tokens: Sequence[Token], place: int) -> int:
    """Return where digits end that follow those of a label, and are no complete number and no amount with a unit."""
    stop = place
    while stop < len(tokens) and tokens[stop].joined and tokens[stop].text.isdecimal():
        if len(tokens[stop].text) >= WHOLE_NUMBER or _folded(tokens, stop + 1) in _UNITS:
            break
        stop += 1
    return stop


def is_count(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a small number counts what is behind it ("3 bulan"): the amount may be meant several times."""
    text, counted = tokens[place].text, _folded(tokens, place + 1)
    if not text.isdecimal() or len(text) > _MOST_COUNTED:
        return False
    if place + 1 < len(tokens) and tokens[place + 1].gap.startswith("%"):
        return True
    return counted in COUNTED and not (counted in ASIDE_LABELS and _is_digits(tokens, place + 2))


def is_numbered_name(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the number at `place` is part of the destination's name before it ("BNI 46")."""
    return 0 < place < len(tokens) and (tokens[place - 1].folded, _folded(tokens, place)) in NUMBERED_NAMES


def _code(tokens: Sequence[Token], place: int) -> int:
    """Return the end of a number behind "#", or of a few digits that are written together with a word ("AB12")."""
    token = tokens[place]
    if not token.text[0].isdecimal():
        return place
    is_glued = place > 0 and token.gap == "" and len(token.digits) < _LEAST_GLUED and _is_of_code(tokens[place - 1])
    return place + 1 if is_glued or token.gap.rstrip().endswith("#") else place


def _is_of_code(before: Token) -> bool:
    """Return whether a word right before digits is no label and no unit, and doesn't end like a digit ("l")."""
    is_label = before.folded in NUMBER_LABELS | PHONE_LABELS | AMOUNT_LABELS or kind_of(before) != "."
    return before.text[0].isalpha() and not is_label and _LOOKALIKE.search(before.text) is None


def _date(tokens: Sequence[Token], place: int) -> int:
    """Return the end of a date in one word, of a day and its month with or without the year, or of a month's year."""
    text = tokens[place].text
    if _DATE.fullmatch(text):
        return place + 1
    at = place
    if _DAY.fullmatch(text) and _folded(tokens, place + 1) in MONTHS:
        at += 1
    elif text.casefold() not in MONTHS or not _YEAR.fullmatch(_folded(tokens, place + 1)):
        return place
    return at + 1 + int(_YEAR.fullmatch(_folded(tokens, at + 1)) is not None)


def _time(tokens: Sequence[Token], place: int) -> int:
    text = tokens[place].text
    if _CLOCK.fullmatch(text):
        return place + 1
    is_time = re.fullmatch(r"\d{1,2}(?:[.]\d{2})?", text) and _folded(tokens, place + 1) in AFTER_CLOCK
    return place + 2 if is_time else place


def _labelled(tokens: Sequence[Token], place: int) -> int:
    """Return the end of a label and its number: "jam 10", "kode bank no 123", "RT 03/05". None is an account's.

    In "token rek 1234567890" the label "token" doesn't count, because "rek" says what follows.
    """
    label = tokens[place].folded
    if label not in ASIDE_LABELS:
        return place
    at = place + 1
    while at <= place + 2 and _folded(tokens, at) in _BETWEEN:
        at += 1
    is_share = at + 1 < len(tokens) and tokens[at + 1].gap.startswith("%")
    if not _is_digits(tokens, at) or is_share or _folded(tokens, at + 1) in _UNITS - BEFORE_ONLY:
        return place
    is_short = len(tokens[at].text) <= _MOST_COUNTED
    if is_short and _folded(tokens, at + 1) in COUNTED and not (label in _TIMES and _is_time(tokens, at)):
        return place
    return max(_date(tokens, at), at + 1)


def _is_time(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the number at `place` is an hour or a day: "10 malam", "3 bulan 12"; three months are a count."""
    unit, after = _folded(tokens, place + 1), _folded(tokens, place + 2)
    return unit == "malam" or (unit in _OF_DAYS and (after in _NEXT or _is_digits(tokens, place + 2)))


def _is_digits(tokens: Sequence[Token], place: int) -> bool:
    return _folded(tokens, place)[:1].isdecimal()


def _folded(tokens: Sequence[Token], place: int) -> str:
    """Return the token at `place`, or "" if marks separate it from the one before."""
    return tokens[place].folded if place < len(tokens) and _is_behind(tokens[place]) else ""


def _is_behind(token: Token) -> bool:
    return token.joined or token.gap in {"-", "/"} or set(token.gap) <= _BEHIND_LABEL


# Money that we don't send.

_BEFORE_NAME: Final = LEADS_TO_NAME | TITLES | BUSINESS
_OF_AMOUNTS: Final = "nilogfqjzwthueuxymrsbk"


@dataclass(frozen=True, slots=True)
class Foreign:
    """The places of a line's foreign currencies.

    - `names_amount`: one of them says what a number counts.
    - `torn`: the places next to one that is also a person's name, and may be the rest of a holder's ("Lee Won 500rb").
    """

    places: frozenset[int] = frozenset()
    names_amount: bool = False
    torn: frozenset[int] = frozenset()


def find_foreign(tokens: Sequence[Token], asides: Collection[int]) -> Foreign:
    """Return the currencies in a line that are neither rupiah nor bitcoin."""
    places, names_amount = set[int](), False
    for place, token in enumerate(tokens):
        if place in asides or token.digits:
            continue
        named = _with_lands(tokens, place)
        if has_foreign_sign(token.text) and token.gap == "" and place and kind_of(tokens[place - 1]) in ".a":
            named = range(place - 1, named.stop)  # "S$", "US$"
        beside = [at for at in (named.start - 1, named.stop) if _is_number(tokens, at, asides)]
        if has_foreign_sign(token.text) or is_foreign_amount(token.text):
            places, names_amount = places.union(named), True
        elif is_foreign(token.text) and (beside or not _is_led(tokens, place)):
            places, names_amount = places.union(named), names_amount or bool(beside)
        elif is_foreign_beside_an_amount(token.text) and beside and not _is_name(tokens, place, beside):
            places.add(place)
            names_amount = names_amount or token.folded not in FILLERS
    may_be_names = [
        place for place in places if tokens[place].folded in CURRENCIES_TOO and _is_capitalised(tokens[place])
    ]
    return Foreign(
        frozenset(places), names_amount, frozenset(at for place in may_be_names for at in (place - 1, place + 1))
    )


def _with_lands(tokens: Sequence[Token], place: int) -> range:
    """Return the places of a currency and of the words around it that say whose it is."""
    start, stop = place, place + 1
    while start > 0 and tokens[start - 1].folded in FOREIGN_LANDS and tokens[start].joined:
        start -= 1
    while stop < len(tokens) and tokens[stop].folded in FOREIGN_LANDS and tokens[stop].joined:
        stop += 1
    return range(start, stop)


def _is_number(tokens: Sequence[Token], place: int, asides: Collection[int]) -> bool:
    """Return whether the token at `place` can be one of an amount. A complete account number can't."""
    if not 0 <= place < len(tokens) or place in asides:
        return False
    return kind_of(tokens[place]) in _OF_AMOUNTS and len(tokens[place].digits) < WHOLE_NUMBER


def _is_led(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the word before says that this is a name: "a.n. Euro Jaya", "PT Dolar"."""
    return place > 0 and tokens[place - 1].folded in _BEFORE_NAME and tokens[place].gap != "\n"


def _is_name(tokens: Sequence[Token], place: int, beside: Sequence[int]) -> bool:
    """Return whether a word next to a number, which may be a currency, is more likely a name or only polite.

    It is if the number says that it is rupiah, or if a name is led to. So is a capitalised word that a mark separates
    from the number, or that is a common name beside a unit ("500rb Mark").
    """
    token = tokens[place]
    kinds = {kind for at in beside for kind in _kinds_around(tokens, at)}
    if _is_led(tokens, place) or "r" in kinds:
        return True
    if token.folded in FILLERS and place - 1 not in beside:
        return True  # "dong" asks politely, and is Vietnam's currency
    if token.folded not in CURRENCIES_TOO or not _is_capitalised(token):
        return False
    behind = tokens[min(place + 1, len(tokens) - 1)]
    is_parted = not token.joined if place - 1 in beside else not (behind.joined or behind.mark)
    return is_parted or ("u" in kinds and token.folded in KNOWN_NAMES)


def _kinds_around(tokens: Sequence[Token], place: int) -> Iterator[str]:
    """Yield the kinds of the amount that the token at `place` is part of."""
    for step in (-1, 1):
        at = place
        while 0 <= at < len(tokens) and kind_of(tokens[at]) in _OF_AMOUNTS:
            yield kind_of(tokens[at])
            if not tokens[at if step < 0 else min(at + 1, len(tokens) - 1)].joined:
                break
            at += step


def _is_capitalised(token: Token) -> bool:
    return token.text[:1].isupper() and token.text[1:].islower()
