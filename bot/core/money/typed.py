"""Read typed amounts ("150rb", "Rp 1.500.000,00", "25k sat"). It never guesses.

An amount is sure only if it has one of the forms of `FORMS`. All else that looks like an amount is a question: its
readings are offered, the likeliest first.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

from bot.core.errors import Rejection
from bot.core.money.exact import MAX_RUPIAH, MAX_SATS, SATS_PER_BITCOIN, Amount, Currency
from bot.core.money.foreign import names_foreign
from bot.core.money.tokens import (
    ADDITIVE,
    AMOUNT_LABELS,
    BESIDE_AN_AMOUNT,
    CURRENCIES,
    DECIMAL_WORDS,
    DIGITS,
    FRACTIONS,
    HUNDREDS,
    LONGEST,
    MILLION,
    ONE_OF,
    PARTS,
    SCALES,
    SLANG,
    TEENS,
    TENS,
    THOUSAND,
    TIMES,
    UNDER_HUNDRED,
    Token,
    tokenize,
)
from bot.core.text import BULLET

SMALLEST_AMOUNT: Final = 1_000
"""Users send at least 1,000 rupiah or sats. A smaller reading is offered only if there is no other."""

LARGEST_SHORTHAND: Final = 100 * MILLION
"""A bare "1.5" or "50" can mean thousands or millions, but not more than this."""

MOST_READINGS: Final = 4
LONGEST_PHRASE: Final = 10
"""Maximum of tokens in one amount. "dua juta tujuh ratus lima puluh ribu rupiah" has eight."""


class AmountRejected(Rejection):
    """The amount can't be sent. Another amount may be possible."""


class AmountUnreadable(AmountRejected):
    """The text isn't an amount."""

    def __init__(self) -> None:
        super().__init__("core.amount.unreadable")


class ForeignCurrency(AmountRejected):
    """The amount is in a currency that we don't send."""

    def __init__(self) -> None:
        super().__init__("core.amount.foreign")


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The text has several meanings. They are offered as buttons, the likeliest first, even if there is only one."""

    readings: tuple[Amount, ...]


Reading = Amount | Ambiguous | AmountRejected
"""What a text means if it is read as an amount."""

Values = list[Fraction]
"""What a phrase can come to, the likeliest first. A sure form has one value."""

# The kinds of tokens, one letter each. A form is a regular expression of them.
_KINDS: Final = {
    **dict.fromkeys(DECIMAL_WORDS, "k"),
    **dict.fromkeys((*DIGITS, *UNDER_HUNDRED, *TENS, *HUNDREDS, *TIMES, *TEENS), "w"),
    **dict.fromkeys(PARTS, "t"),
    **{word: "h" if value in {Fraction(1, 2), Fraction(1, 4)} else "t" for word, value in FRACTIONS.items()},
    **{word: "u" if len(scales) == 1 else "m" for word, scales in SCALES.items()},
    **dict.fromkeys(ONE_OF, "e"),
    **{word: "x" for word in SLANG if word not in UNDER_HUNDRED},
    **{word: {"IDR": "r", "SAT": "s", "BTC": "b", "₿": "b"}[name] for word, name in CURRENCIES.items()},
    **dict.fromkeys(ADDITIVE, "+"),
    **dict.fromkeys(("a", "se"), "a"),
}
_ABOUT_AN_AMOUNT: Final = tuple(word for word in (*FRACTIONS, *PARTS, *ONE_OF) if len(word) > 3)  # noqa: PLR2004  no initial
"""A word that begins with one of these is about an amount: "setengahnya", "sejutaan". Its kind, `y`, has no form."""

_NUMBERS: Final = (
    ("n", re.compile(r"0|[1-9]\d{0,2}")),
    ("i", re.compile(r"[1-9]\d{3}")),
    ("l", re.compile(r"[1-9]\d{4,}")),
    ("j", re.compile(r"0\d\d")),
    ("o", re.compile(r"[1-9][.,]\d{3}")),
    ("g", re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]0?0)?|[1-9]\d{3,11}[.,]00")),
    ("f", re.compile(r"0[.,]\d{1,12}|[1-9]\d{0,2}[.,]\d{1,2}|[1-9]\d{0,2}[.,]\d{8}")),
    ("q", re.compile(r"[1-9]\d*(?:[.,']\d+)+")),
)
"""Kinds of numbers: `n` below 1,000, `i` and `l` whole, `j` a group that begins with a zero, `o` one digit before one
group, `g` groups, `f` a decimal, `q` odd marks. A number of none of these kinds, such as a phone's, is `z`."""


def kind_of(token: Token) -> str:
    """Return the letter of a token's kind, or "." for a word that no amount has."""
    return _kind(token.folded)


@lru_cache(maxsize=4096)
def _kind(text: str) -> str:
    if text in _KINDS:
        return _KINDS[text]
    if text[0].isdecimal():
        found = next((kind for kind, form in _NUMBERS if form.fullmatch(text)), None)
        if found is not None:
            return found
    if text.startswith(_ABOUT_AN_AMOUNT):
        return _KINDS.get(text, "y")
    value = _fraction(text)
    if value is not None:  # "1/2" can also be 12 with a mark in it
        return "h" if value in {Fraction(1, 2), Fraction(1, 4)} and "/" not in text else "t"
    return "z" if any(map(str.isdecimal, text)) else "."


def _fraction(text: str) -> Fraction | None:
    if text in FRACTIONS:
        return FRACTIONS[text]
    if re.fullmatch(r"[1-9]/(?:[2-9]|10)", text):
        value = Fraction(text)
    elif len(text) == 1 and not text.isdecimal() and text.isnumeric():
        value = Fraction(unicodedata.numeric(text)).limit_denominator(10)
    else:
        return None
    return value if 0 < value < 1 else None


def _meanings(token: Token) -> Values:
    """Return the values of one written number, the likeliest first. Marks group, or the last one begins a fraction."""
    text = token.text
    marks = re.sub(r"\d", "", text)
    whole = int(token.digits)
    head, _, tail = text.rpartition(marks[-1]) if marks else (text, "", "")
    decimal = Fraction(f"{re.sub(r'[^0-9]', '', head)}.{tail}") if marks and marks[-1] in ".," else None
    match kind_of(token):
        case "g" if len(tail) <= _MOST_CENTS and decimal is not None:
            return [decimal]
        case "n" | "i" | "l" | "g":
            return [Fraction(whole)]
        case "f" if decimal is not None:
            return [decimal]
        case "o" if decimal is not None:
            return [Fraction(whole), decimal]
    is_fraction = decimal is not None and marks[-1] not in marks[:-1]
    if is_fraction and decimal is not None:
        return [decimal] if len(tail) <= _MOST_CENTS else [Fraction(whole), decimal]
    return [Fraction(whole)]


_MOST_CENTS: Final = 2


def list_meanings(text: str) -> Values:
    """Return the values of one written number in any language: "1,500" is 1,500 or 1.5. None if it isn't a number."""
    token = Token(text)
    marks = re.sub(r"\d", "", text)
    if kind_of(token) not in set("nilogfq") or (kind_of(token) == "q" and marks[-1] in marks[:-1]):
        return []
    has_one_group = re.fullmatch(r"\d{1,3}[.,]\d{3}", text) is not None
    return [*_meanings(token)[:1], *([Fraction(text.replace(",", "."))] if has_one_group else [])]


def _count(tokens: Sequence[Token]) -> Values:
    """Return the values of what is before a unit: a number, number words, or words around a decimal mark."""
    if len(tokens) == 1 and kind_of(tokens[0]) in "nilogfq":
        return _meanings(tokens[0])
    if len(tokens) == 1 and DIGITS.get(tokens[0].folded) == 0:
        return [Fraction(0)]
    kinds = "".join(map(kind_of, tokens))
    if "k" in kinds:
        at = kinds.index("k")
        whole, tenths = _below_thousand(tokens[:at]), _below_thousand(tokens[at + 1 :])
        if whole is None or tenths is None:
            return []
        behind = tokens[at + 1].text if tokens[at + 1].text.isdecimal() else str(tenths)
        return [Fraction(f"{whole}.{behind}")]
    words = _below_thousand(tokens)
    return [] if words is None else [Fraction(words)]


def _below_thousand(tokens: Sequence[Token]) -> int | None:
    """Return the value of words such as "tujuh ratus dua puluh lima", each term smaller than the one before, or None.

    A digit can stand for the word of a digit ("5 ratus"), and a number below a thousand for all words.
    """
    words = [token.folded for token in tokens]
    if len(words) == 1 and words[0].isdecimal():
        return int(words[0]) if kind_of(tokens[0]) == "n" else None
    total, step = 0, THOUSAND
    while words:
        value, below = _take_term(words)
        if not 0 < value < step:
            return None
        total, step = total + value, below
    return total or None


def _take_term(words: list[str]) -> tuple[int, int]:
    """Remove the first term. Return its value, or 0, and what the next term must be below."""
    word = words.pop(0)
    for known, below in ((HUNDREDS, 100), (TENS, 10), (UNDER_HUNDRED, 1)):
        if word in known:
            return known[word], below
    value = DIGITS.get(word, int(word) if word.isdecimal() and len(word) == 1 else 0)
    follower = words[0] if words else ""
    if value and follower in TIMES:
        words.pop(0)
        return value * TIMES[follower], TIMES[follower]
    if value > 1 and follower in TEENS:  # "sebelas" is eleven
        words.pop(0)
        return value + TEENS[follower], 1
    return value, 1


def _scales(token: Token) -> tuple[int, ...]:
    return (ONE_OF[token.folded],) if token.folded in ONE_OF else SCALES[token.folded]


def _terms(tokens: Sequence[Token]) -> Values:
    """Return the values of counts with their units, each unit below the one before: "2 juta 500 ribu", "sejuta"."""
    totals, above, start = [Fraction(0)], 0, 0
    for at, token in enumerate(tokens):
        if kind_of(token) not in "ume":
            continue
        counts = [Fraction(1)] if kind_of(token) == "e" and at == start else _count(tokens[start:at])
        values = [count * scale for scale in _scales(token) for count in counts]
        if not values or (kind_of(token) == "e" and at > start) or (above and max(values) >= above):
            return []
        totals = [total + value for total in totals for value in values]
        above, start = min(_scales(token)), at + 1
    return totals if start == len(tokens) else []


def _half(tokens: Sequence[Token]) -> Values:
    """Return the value of a part before a unit, with a count before it: "setengah juta", "dua setengah juta"."""
    kinds = "".join(map(kind_of, tokens)).replace("a", "")
    words = [token for token in tokens if kind_of(token) not in "a+"]
    at = next((place for place, token in enumerate(words) if kind_of(token) in "ht"), len(words))
    part, start = _part_at(words, at)
    whole = _count(words[:start]) if start else [Fraction(0)]
    if not part or not whole or kinds[-1] not in "um" or at + 2 != len(words):
        return []
    return [(whole[0] + part) * scale for scale in _scales(words[-1])]


def _is_small_half(tokens: Sequence[Token]) -> bool:
    """Return whether the count before a part is none, or below a hundred before a half."""
    words = [token for token in tokens if kind_of(token) != "a"]
    count = _count(words[:-2]) if len(words) > 2 else [Fraction(0)]  # noqa: PLR2004  the part and its unit
    return count == [0] or (bool(count) and count[0] < 100 and _fraction(words[-2].folded) == Fraction(1, 2))  # noqa: PLR2004


def _part_at(words: Sequence[Token], at: int) -> tuple[Fraction | None, int]:
    """Return the part whose last word is at `at`, and where it begins: "setengah", "3/4", "tiga perempat"."""
    if at >= len(words):
        return None, at
    text = words[at].folded
    if text not in PARTS:
        return _fraction(text), at
    count = _count(words[at - 1 : at]) if at else [Fraction(1)]
    return (count[0] / PARTS[text], max(at - 1, 0)) if count and count[0] < PARTS[text] else (None, at)


def _glued_hundreds(tokens: Sequence[Token]) -> Values:
    """Return the value of "25rb500": three digits that are written together with the thousands before them."""
    is_one = len(tokens[2].text) == len("500") and all(token.gap == "" for token in tokens[1:])
    values = _terms(tokens[:2])
    return [values[0] + int(tokens[2].text)] if is_one and values and _scales(tokens[1]) == (THOUSAND,) else []


def _behind_unit(tokens: Sequence[Token]) -> Values:
    """Return the values of a number behind a unit: "2jt5" and "2 juta 500" are 2.5 million, or a little above two."""
    last = max(place for place, token in enumerate(tokens) if kind_of(token) in "ume") + 1
    values, rest, scale = _terms(tokens[:last]), _count(tokens[last:]), min(_scales(tokens[last - 1]))
    if not values or not rest:
        return []
    digits = tokens[-1].text if tokens[-1].text.isdecimal() else f"{int(rest[0]):03d}"
    smaller = rest[0] * scale / THOUSAND if scale > THOUSAND else rest[0]
    return [values[0] + Fraction(f"0.{digits}") * scale, values[0] + smaller, values[0] + rest[0]]


def _part_behind(tokens: Sequence[Token]) -> Values:
    """Return the values of a part behind a unit: "sejuta setengah" is one and a half million."""
    words = [token for token in tokens if kind_of(token) not in "a+"]
    last = max(place for place, token in enumerate(words) if kind_of(token) in "ume")
    part, start = _part_at(words, len(words) - 1)
    values = _terms(words[: last + 1])
    return [value + part * min(_scales(words[last])) for value in values] if part and start == last + 1 else []


def _spelled(tokens: Sequence[Token]) -> Values:
    """Return the value of a count that is spelled digit by digit: "satu nol nol ribu"."""
    digits = [str(DIGITS.get(token.folded, token.text)) for token in tokens[:-1]]
    if not all(len(digit) == 1 and digit.isdecimal() for digit in digits):
        return []
    values = [Fraction("".join(digits)), Fraction(f"{digits[0]}.{''.join(digits[1:])}")]
    values += [Fraction(digits[0])] if len(set(digits)) == 1 else []
    return [value * scale for value in values for scale in _scales(tokens[-1])]


def _slang(tokens: Sequence[Token]) -> Values:
    return [Fraction(SLANG[tokens[0].folded])] if tokens[0].folded in SLANG else []


def _plain(tokens: Sequence[Token]) -> Values:
    return _meanings(tokens[0])


def _spaced(tokens: Sequence[Token]) -> Values:
    """Return the value of groups of three with spaces between them: "1 500 000"."""
    is_grouped = all(len(token.text) == _GROUP and token.gap == " " for token in tokens[1:])
    value = Fraction("".join(token.text for token in tokens))
    if not is_grouped or not value:
        return []
    return [value] if value >= 10 * THOUSAND else [value * THOUSAND, value]


_GROUP: Final = 3


def _bare(tokens: Sequence[Token]) -> Values:
    """Return what a number without a unit can be short for: thousands or millions, or as it is."""
    kind, values = kind_of(tokens[0]), _count(tokens)
    if not values or kind == "q":
        return values
    value = values[0]
    if kind == "o":
        return [value * THOUSAND, value]
    short = [value * THOUSAND, *([value * MILLION] if value * MILLION < LARGEST_SHORTHAND else [])]
    if kind != "f":
        return short
    joined = int(tokens[0].digits)
    if value.denominator == 1 and joined >= SMALLEST_AMOUNT:
        return [value * THOUSAND, Fraction(joined)]
    return short[::-1] if value < 10 and value.denominator > 1 else short  # noqa: PLR2004  "1,5" is 1.5 million


def _bare_part(tokens: Sequence[Token]) -> Values:
    part, start = _part_at(tokens, len(tokens) - 1)
    whole = _count(tokens[:start])
    return [(whole[0] + part) * scale for scale in (MILLION, THOUSAND)] if part and whole else []


def _odd(tokens: Sequence[Token]) -> Values:
    return [value for value in _plain(tokens) if value >= SMALLEST_AMOUNT]


def _groups_with_unit(tokens: Sequence[Token]) -> Values:
    """Return the values of "1.500 ribu", and of the number without its unit."""
    values = [*_terms(tokens), *_plain(tokens)[:1]]
    return values[::-1] if kind_of(tokens[0]) == "q" else values


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an amount.

    - `shape`: a regular expression for the kinds of its tokens, without currencies (`kind_of`).
    - `read`: returns the values, the likeliest first.
    - `examples`: texts, each with what it comes to in rupiah or sats, or first of all.
    - `currencies`: those that it can have. Without a named one, an amount is in rupiah.
    """

    name: str
    shape: str
    read: Callable[[Sequence[Token]], Values]
    examples: str
    currencies: tuple[str, ...] = ("IDR", "SAT")

    def fits(self, kinds: str, currency: str) -> bool:
        """Return whether tokens of these kinds have this form."""
        return currency in self.currencies and _compile(self.shape).fullmatch(kinds) is not None


_compile: Final = lru_cache(re.compile)


FORMS: Final = (
    Form("Digits", r"[il]", _plain, "500000 = 500000 · Rp 50000 = 50000 · 50000 rupiah = 50000 · 1500 = 1500"),
    Form(
        "Groups of three by points or commas, two digits or more before a single group",
        r"g",
        _plain,
        "150.000 = 150000 · 1,500,000 = 1500000 · Rp50.000,- = 50000 · Rp 1.500.000,00 = 1500000 · 25.000 sats = 25000",
    ),
    Form(
        "The same by spaces",
        r"n[nj]{1,2}",
        _spaced,
        "1 500 000 = 1500000 · Rp 500 000 = 500000 · 10 000 rupiah = 10000",
    ),
    Form(
        "A whole number or a decimal, and a unit",
        r"[nif]u",
        _terms,
        "150rb = 150000 · 150 ribu = 150000 · 150 rebu = 150000 · 50K = 50000 · 1,5jt = 1500000 · 0.5 juta = 500000"
        " · 2 million = 2000000 · 1.2 miliar = 1200000000 · 1 billion = 1000000000 · 25k sat = 25000",
    ),
    Form("A unit, and a smaller whole unit", r"[ni]unu", _terms, "1jt 500rb = 1500000 · 2 juta 500 ribu = 2500000"),
    Form("Thousands, and exactly three digits written together with them", r"nun", _glued_hundreds, "25rb500 = 25500"),
    Form(
        "Number words up to a unit, and one unit after it",
        r"(?:e|[nw]+u)(?:[nw]+u)?",
        _terms,
        "seratus ribu = 100000 · dua juta lima ratus ribu = 2500000 · sejuta = 1000000 · limapuluhribu = 50000"
        " · 5 ratus ribu = 500000 · fifteen thousand = 15000 · semiliar = 1000000000 · seribu sats = 1000",
    ),
    Form("Slang", r"[xw]", _slang, "gocap = 50000 · goban = 50000 · ceban = 10000", ("IDR",)),
    Form(
        "A half or a quarter directly before a unit, a small count before a half",
        r"a?ha?u|[nw]+hu",
        lambda tokens: _half(tokens) if _is_small_half(tokens) else [],
        "setengah juta = 500000 · ½ juta = 500000 · half a million = 500000 · seperempat juta = 250000"
        " · satu setengah juta = 1500000",
    ),
    Form("A decimal mark in words", r"[nw]k[nw]u", _terms, "2 koma 5 juta = 2500000 · dua koma lima juta = 2500000"),
    Form("Whole sats", r"[no]", lambda tokens: _plain(tokens)[:1], "50 sats = 50 · 1.500 sats = 1500", ("SAT",)),
    Form("Bitcoin", r"[nf]", _plain, "0.0005 btc = 50000 · 0,0005 btc = 50000 · 1.5 btc = 150000000", ("BTC",)),
)
"""The forms of which the bot is sure. `docs/senders.md` shows them."""

ASKED: Final = (
    Form("A small number", r"[nof]|w+|[nw]k[nw]", _bare, "50 = 50000 · 1.500 = 1500000 · 1,5 = 1500000", ("IDR",)),
    Form("A small number and a part", r"[nw]+[ht]", _bare_part, "satu setengah = 1500000", ("IDR",)),
    Form("Odd marks", r"q", _odd, "1'500'000 = 1500000 · 1.500,000 = 1500000"),
    Form("A small number of sats with a fraction", r"f", _plain, "50.00 sats = 50", ("SAT",)),
    Form("Bitcoin or sats", r"[nilgofq]", _plain, "\u20bf25000 = 25000", ("BTC",)),
    Form("A unit with two meanings", r"[nilgofq]m|w+m", _terms, "1m = 1000000 · 1,5 M = 1500000"),
    Form("Groups, or many digits, with a unit", r"[lgoq]u", _groups_with_unit, "1.500 ribu = 1500000"),
    Form(
        "Digits or words behind a unit",
        r"(?:e|[nif]u|[nw]+u|[ni]unu)(?:[ni]|w+)",
        _behind_unit,
        "15k5 = 15500 · 2k7 = 2700 · 40ribu5 = 40500 · 2jt5 = 2500000 · dua juta lima ratus = 2500000",
    ),
    Form(
        "A part behind a unit",
        r"(?:e|[nif]u|[nw]+u)\+?a?[nw]?a?[ht]",
        _part_behind,
        "sejuta setengah = 1500000 · 1jt setengah = 1500000 · dua juta tiga perempat = 2750000",
    ),
    Form(
        "Another part before a unit",
        r"[nw]*\+?a?[nw]?[ht]a?[um]",
        _half,
        "tiga perempat juta = 750000 · 1/2 juta = 500000 · one and a half million = 1500000",
    ),
    Form("Spelled digits", r"[nw]{2,}u", _spelled, "lima nol juta = 50000000 · satu nol nol ribu = 100000"),
    Form("A single group by a space", r"n[nj]", _spaced, "1 500 = 1500000", ("IDR",)),
)
"""Forms that are asked about. The likeliest of their readings comes first."""


def read_phrase(tokens: Sequence[Token]) -> Reading | None:
    """Return what `tokens`, with only spaces between them, come to if all of them are one amount. Otherwise None.

    It is sure only in one of `FORMS`.
    """
    kinds = "".join(map(kind_of, tokens))
    core = _CORE.fullmatch(kinds)
    named = {CURRENCIES[token.folded] for token, kind in zip(tokens, kinds, strict=True) if kind in "rsb"}
    if core is None or len(named) > 1 or len(tokens) > LONGEST_PHRASE or not all(token.joined for token in tokens[1:]):
        return None
    phrase, currency = tokens[slice(*core.span(1))], next(iter(named), "IDR")
    if phrase[0].mark:
        return _read_marked(tokens, core.start(1), currency)
    for forms, is_form in ((FORMS, True), (ASKED, False)):
        for form in forms:
            if form.fits(core[1], "BTC" if currency == "\u20bf" else currency):
                values = form.read(phrase)
                if values:
                    is_sure = is_form and len(values) == 1 and not (currency == "\u20bf" and core[1] == "n")
                    return _choose(values, currency, is_sure=is_sure)
    return None


def _read_marked(tokens: Sequence[Token], at: int, currency: str) -> Reading | None:
    """Read an amount whose first number has a mark before it: ".5jt" is half a million, unless the mark is a mistake.

    A bullet, or the dot of "Rp.", isn't a mark of the number if the fraction is less than anybody sends ("Rp.500rb").
    """
    first = tokens[at]
    without, fraction = (
        [*tokens[:at], replace(first, text=text, mark=""), *tokens[at + 1 :]]
        for text in (first.text, f"0.{first.text}")
    )
    plainly = read_phrase(without)
    as_fraction = list_amounts(read_phrase(fraction)) if first.text.isdecimal() else ()
    is_of_text = first.mark == BULLET or (first.mark == "." and at > 0 and currency == "IDR")
    if plainly is None or (is_of_text and all(each.value < SMALLEST_AMOUNT for each in as_fraction)):
        return plainly
    return ambiguous([*as_fraction, *list_amounts(plainly)]) or plainly


def _choose(values: Values, currency: str, *, is_sure: bool) -> Reading:
    """Return the one sure amount, or the readings that make sense, or the reason why none does."""
    unit: Currency = "IDR" if currency == "IDR" else "SAT"
    totals = list(dict.fromkeys(value * factor for value in values for factor in _UNITS[currency]))
    most = MAX_RUPIAH if unit == "IDR" else MAX_SATS
    possible = [int(each) for each in totals if each.denominator == 1 and 0 < each <= most]
    if not possible:
        return _reason(totals, unit)
    sensible = [each for each in possible if each >= SMALLEST_AMOUNT] or possible
    amounts = tuple(Amount(unit, each) for each in sensible[:MOST_READINGS])
    return amounts[0] if is_sure and len(amounts) == 1 else Ambiguous(amounts)


_CORE: Final = re.compile(r"[rsb]?([^rsb.]+)[rsb]?")
"""The kinds of an amount between its currencies."""

_UNITS: Final = {"IDR": (1,), "SAT": (1,), "BTC": (SATS_PER_BITCOIN,), "\u20bf": (1, SATS_PER_BITCOIN)}
"""Whole units in one of each. A whole number of ₿ means bitcoins to some and sats to others (BIP 177)."""


def _reason(totals: Sequence[Fraction], unit: Currency) -> AmountRejected:
    if all(each <= 0 for each in totals):
        return AmountRejected("core.amount.not_positive")
    if all(each.denominator > 1 for each in totals):
        return AmountRejected("core.amount.fraction" if unit == "IDR" else "core.amount.fraction_sats")
    if unit == "IDR":
        return AmountRejected("core.amount.too_large", maximum=int(MAX_RUPIAH))
    return AmountRejected("core.amount.too_large_sats", maximum=int(MAX_SATS))


def list_amounts(value: Reading | None) -> tuple[Amount, ...]:
    """Return the amounts that `value` may be."""
    if isinstance(value, Amount):
        return (value,)
    return value.readings if isinstance(value, Ambiguous) else ()


def ambiguous(amounts: Iterable[Amount]) -> Ambiguous | None:
    """Return the question which of `amounts` is meant, or None without any."""
    distinct = tuple(dict.fromkeys(amounts))[:MOST_READINGS]
    return Ambiguous(distinct) if distinct else None


def is_additive(token: Token) -> bool:
    """Return whether the token, or what is before it, adds what follows to the amount before: "200rb + 200rb"."""
    return kind_of(token) == "+" or not ADDITIVE.isdisjoint(token.gap) or token.text.startswith("+")


def combine(found: Sequence[Reading], *, is_added: bool) -> Reading | None:
    """Return the amount that all of `found` are, or the question which is meant. Equal ones are one, unless added."""
    if not found:
        return None
    rejected = next((each for each in found if isinstance(each, AmountRejected)), None)
    if rejected is not None:
        return rejected
    if len(set(found)) == 1 and not (is_added and len(found) > 1):
        return found[0]
    each = [amount for reading in found for amount in list_amounts(reading)]
    firsts = [list_amounts(reading)[0] for reading in found]
    total = Amount(firsts[0].currency, sum(amount.value for amount in firsts))
    can_be_added = len(found) > 1 and len({amount.currency for amount in firsts}) == 1 and total.value <= MAX_SATS
    return ambiguous([total, *each] if is_added and can_be_added else [*each, *([total] if can_be_added else [])])


def guess(tokens: Sequence[Token]) -> Ambiguous | None:
    """Return the question about tokens that have none of the forms: the amounts within them, and their total."""
    without_doubles = [
        token for place, token in enumerate(tokens) if not place or token.folded != tokens[place - 1].folded
    ]
    once = read_phrase(without_doubles) if len(without_doubles) < len(tokens) else None
    tight = read_phrase(tokenize(_TIGHT.sub(r"\1", join_tokens(tokens))))
    if any(kind_of(token) == "z" for token in tokens):
        return ambiguous(list_amounts(tight))
    found = [tokens[start:stop] for start, stop in _cover(tokens)]
    is_added = any(map(is_additive, tokens[1:]))
    joined = combine([value for phrase in found if (value := read_phrase(phrase)) is not None], is_added=is_added)
    likeliest = [joined, once, tight] if is_added else [once, tight, joined]
    return ambiguous(amount for value in likeliest for amount in list_amounts(value))


def _cover(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the phrases that are amounts and leave the fewest tokens, the fewest of them unsure, the longest first."""
    best: list[tuple[tuple[int, int, int], list[tuple[int, int]]]] = [((0, 0, 0), [])]
    for stop in range(1, len(tokens) + 1):
        (skipped, unsure, count), phrases = best[-1]
        options = [((skipped + 1, unsure, count), phrases)]
        for start in range(max(0, stop - LONGEST_PHRASE), stop):
            value = read_phrase(tokens[start:stop])
            if list_amounts(value):
                (skipped, unsure, count), phrases = best[start]
                options.append(((skipped, unsure + isinstance(value, Ambiguous), count + 1), [*phrases, (start, stop)]))
        best.append(min(options, key=lambda option: option[0]))
    return best[-1][1]


_TIGHT: Final = re.compile(r"\s*([.,]?)\s*(?=\d)")


def join_tokens(tokens: Sequence[Token]) -> str:
    """Return the tokens as one text."""
    return "".join(f"{token.gap if place else ''}{token.text}" for place, token in enumerate(tokens))


def is_below_zero(token: Token, before: Token | None) -> bool:
    """Return whether a minus is right before the number or its currency: "-50rb", "Rp -50.000", "-Rp50.000"."""
    is_free = before is None or kind_of(before) == "r" or _FREE_MINUS.search(token.gap) is not None
    return (
        is_free
        and token.gap.strip()[-1:] == "-"
        and token.gap[-1] == "-"
        and "+" not in token.gap
        and kind_of(token) not in ".a"
    )


_FREE_MINUS: Final = re.compile(r"[\s(\[:=]-$")


def parse_amount(text: str) -> Amount | Ambiguous:
    """Read the exact amount that `text` names ("150rb", "Rp 1.500.000,00", "25k sat", "0,0005 btc"), or its readings.

    The currency is rupiah if none is named. An amount that is written twice ("setengah juta = 500rb") is one amount.

    Raises:
        AmountUnreadable: the text isn't an amount.
        ForeignCurrency: it is an amount in another currency.
        AmountRejected: it is less than one rupiah or sat, has a fraction of one, or is more than anybody sends.
    """
    tokens = _without_polite(tokenize(text))
    found = _read_all(tokens) if tokens and len(tokens) <= _MOST_TOKENS else None
    if found is None:
        if len(text) <= LONGEST and names_foreign(text):
            raise ForeignCurrency
        raise AmountUnreadable
    if isinstance(found, AmountRejected):
        raise found
    return found


_MOST_TOKENS: Final = 2 * LONGEST_PHRASE


def _without_polite(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without the words that introduce an amount, or are only polite."""
    may_go = [token.folded in AMOUNT_LABELS or token.folded in BESIDE_AN_AMOUNT for token in tokens]
    start = len(list(takewhile(bool, may_go)))
    stop = len(tokens) - len(list(takewhile(bool, reversed(may_go))))
    return tokens[start:stop]


def _read_all(tokens: Sequence[Token]) -> Reading | None:
    if any(is_below_zero(token, tokens[at - 1] if at else None) for at, token in enumerate(tokens)):
        return AmountRejected("core.amount.not_positive")
    if tokens[0].folded == "minus" and len(tokens) > 1:
        return AmountRejected("core.amount.not_positive")
    if any(kind_of(token) == "." for token in tokens) or any(_ODD_GAP.search(token.gap) for token in tokens):
        return None
    ends = [0, *(at for at in range(1, len(tokens)) if not tokens[at].joined), len(tokens)]
    parts = [part for start, stop in pairwise(ends) if (part := read_phrase(tokens[start:stop]))]
    is_added = any(map(is_additive, tokens[1:]))
    if len(parts) == len(ends) - 1 and not is_added:
        found = combine(parts, is_added=False)
        return found if len(parts) == 1 or not isinstance(found, Ambiguous) else guess(tokens)
    return guess(tokens)


_ODD_GAP: Final = re.compile(r"[~\u00b1\u2248\u2243<>\u2264\u2265@%#/]|(?:^|\s)(?:\+-|-\+)")
"""Signs for "about", a limit, a share or a rate: the text is more than an amount."""
