"""Parser from typed text to an exact amount, or to the possible amounts that the user chooses from.

It never guesses.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from bot.core.errors import Rejection
from bot.core.money.exact import MAX_RUPIAH, MAX_SATS, SATS_PER_BITCOIN, Amount, Currency
from bot.core.money.foreign import FOREIGN, names_foreign
from bot.core.money.vocabulary import CURRENCIES, FRACTIONS, MILLION, SCALES, SLANG, THOUSAND, words_in
from bot.core.money.words import UnknownWords, read_words
from bot.core.text import BULLET, has_odd_numerals, plain, remove_pictures, with_plain_marks

_NUMBER = re.compile(
    r"(?P<head>[1-9]\d{0,2}(?P<group>[.,' ])\d{3}(?:(?P=group)\d{3})*|\d+)(?:(?P<mark>[.,])(?P<tail>\d+))?"
)

_GROUP = 3
"""Digits between two separators of thousands."""


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
class WrittenNumber:
    """Every meaning of one written number.

    `whole`: the separators group thousands. `exact`: the last separator starts a fraction. `joined`: the digits with
    separators ignored, as in careless typing. `grouped`: the grouping is unambiguous. `decimals`: digits of the
    fraction.
    """

    whole: int | None
    exact: Fraction | None
    joined: int
    grouped: bool = False
    decimals: int = 0

    @property
    def may_be_group(self) -> bool:
        """Return whether the fraction can be another group of thousands: "150000.000", "1.500,000"."""
        return self.decimals == _GROUP and self.exact is not None and self.exact >= 1

    @property
    def meanings(self) -> tuple[Fraction, ...]:
        """Return the possible values: two where the languages disagree, or where a group is written as a fraction."""
        group = self.joined if self.may_be_group else None
        return tuple(Fraction(each) for each in (self.whole, self.exact, group) if each is not None)


def read_number(text: str) -> WrittenNumber | None:
    """Read `text` (ASCII digits, dots, commas, apostrophes, single spaces). Return None if it isn't a number."""
    match = _NUMBER.fullmatch(text)
    if match is None or match["mark"] == match["group"] is not None or _pads_with_zeros(match["head"]):
        return None
    head = int(re.sub(r"\D", "", match["head"]))
    joined = int(re.sub(r"\D", "", text))
    if match["tail"] is not None:
        exact = Fraction(f"{head}.{match['tail']}")
        return WrittenNumber(None, exact, joined, grouped=match["group"] is not None, decimals=len(match["tail"]))
    groups = match["head"].count(match["group"]) if match["group"] else 0
    exact_too = groups == 1 and match["group"] in ".,"
    return WrittenNumber(head, Fraction(text.replace(",", ".")) if exact_too else None, joined, grouped=groups > 1)


def _pads_with_zeros(head: str) -> bool:
    """Return whether the number has leading zeros. Phone and account numbers have them, amounts don't."""
    return len(head) > 1 and head.startswith("0")


LONGEST: Final = 64
"""Maximum characters. The longest amount in words is well below, and junk costs little work."""

SMALLEST_AMOUNT: Final = 1_000
"""Users send at least 1,000 rupiah or sats. A smaller reading is offered only if there is no other."""

LARGEST_SHORTHAND: Final = 100 * MILLION
"""A bare "1.5" or "50" can mean thousands or millions, but not more than this."""

AMBIGUOUS_BELOW: Final = 10_000
"""From this amount a group of thousands is unambiguous: `150.000` is, but `1.500` can be 1,500 or 1.5 million."""

MOST_CENTS: Final = 2
"""Digits of a rupiah's fraction. More digits, even zeros, can be digits of the amount."""

_UNITS = {"IDR": (1,), "SAT": (1,), "BTC": (SATS_PER_BITCOIN,), "₿": (1, SATS_PER_BITCOIN)}
"""Whole units in one of each. A whole number of ₿ means bitcoins to some and sats to others (BIP 177)."""

_TOKEN = re.compile(r"\s*(?:(?P<number>[.,'•]?\d+(?:[.,' ]\d+)*)|(?P<run>[a-z]+|₿)(?:\.(?!\d))?)")
_ABBREVIATED = re.compile(r"(?:rp|idr)(?=\.\d)")
_CLOSING = re.compile(r"(?<=[\da-z₿])\s*(?:[.,]?\s*[-=]+|[.,!?]+)$")
_BELOW_ZERO = re.compile(r"(?:[a-z₿]+\.?\s*)?-\s*[a-z₿]*\.?\s*\d|minus\b")


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The text has several meanings.

    The amounts are offered as buttons, the smallest first, even if there is only one.
    """

    readings: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class _Typed:
    """The parts of the typed text: the currency (IDR if none is named), and its numbers and words in order.

    `is_abbreviated`: the currency is written with a dot that can also be the first number's mark ("Rp.5jt").
    """

    currency: str
    parts: tuple[str, ...]
    is_abbreviated: bool = False


def parse_amount(text: str) -> Amount | Ambiguous:
    """Read the exact amount that `text` names ("150rb", "Rp 1.500.000,00", "25k sat", "0,0005 btc"), or its readings.

    The currency is rupiah if none is named. The user decides about ambiguous text ("1.500", "1m", "50.00", ".5jt").

    Raises:
        AmountUnreadable: the text isn't an amount.
        ForeignCurrency: it is an amount in another currency.
        AmountRejected: it is less than one rupiah or sat, has a fraction of one, or is more than anybody sends.
    """
    try:
        typed = _split(text)
        return _read(typed) if typed.parts[0][0].isalnum() else _read_marked(typed)
    except AmountUnreadable:
        if len(text) <= LONGEST and names_foreign(with_plain_marks(text)):
            raise ForeignCurrency from None
        raise


def _read(typed: _Typed) -> Amount | Ambiguous:
    first, *others = typed.parts
    number = read_number(first)
    if number is None or len(others) > 1 or (others and others[0] not in SCALES):
        return _from_words(typed)
    scales = SCALES[others[0]] if others else ()
    if typed.currency == "IDR" and not scales:
        return _from_bare_number(number)
    return _from_number(number, scales or (1,), typed.currency)


def _read_marked(typed: _Typed) -> Amount | Ambiguous:
    """Read a sum whose first number has a mark before it: ".5jt" is half a million, unless the mark is a mistake.

    A bullet, or the dot of "Rp.", isn't a mark of the number if the fraction is less than anybody sends ("Rp.500rb").
    """
    first, *others = typed.parts
    without = replace(typed, parts=(first[1:], *others))
    as_fraction = _list_readings(replace(typed, parts=(f"0.{first[1:]}", *others))) if first[1:].isdecimal() else ()
    is_of_text = first[0] == BULLET or (first[0] == "." and typed.is_abbreviated)
    if is_of_text and all(each.value < SMALLEST_AMOUNT for each in as_fraction):
        return _read(without)
    amounts = {*as_fraction, *_list_readings(without)}
    return Ambiguous(tuple(sorted(amounts, key=lambda each: each.value))) if amounts else _read(without)


def _list_readings(typed: _Typed) -> tuple[Amount, ...]:
    try:
        found = _read(typed)
    except AmountRejected:
        return ()
    return found.readings if isinstance(found, Ambiguous) else (found,)


def _split(text: str) -> _Typed:
    folded = plain(remove_pictures(with_plain_marks(text))).casefold()
    if has_odd_numerals(text) or len(folded) > LONGEST:
        raise AmountUnreadable
    if _BELOW_ZERO.match(folded):
        raise AmountRejected("core.amount.not_positive")
    tokens = _tokens(_CLOSING.sub("", folded))
    named = {CURRENCIES[token] for token in (tokens[:1] + tokens[-1:]) if token in CURRENCIES}
    parts = tuple(_without_ends(tokens))
    if not parts or len(named) > 1 or any(part in CURRENCIES for part in parts):
        raise AmountUnreadable
    return _Typed(named.pop() if named else "IDR", parts, _ABBREVIATED.match(folded) is not None)


def _tokens(text: str) -> list[str]:
    tokens, position = list[str](), 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        found = _words_of(match) if match else None
        if match is None or found is None:
            raise AmountUnreadable
        tokens.extend(found)
        position = match.end()
    return tokens


def _words_of(match: re.Match[str]) -> list[str] | None:
    if match["number"]:
        return [match["number"]]
    return None if match["run"] in FOREIGN else words_in(match["run"])  # "msat" isn't a million sats


def _without_ends(tokens: list[str]) -> list[str]:
    """Return the tokens without a currency at either end ("Rp 50.000", "50.000 rupiah", "Rp 50.000 rupiah")."""
    start = 1 if tokens and tokens[0] in CURRENCIES else 0
    end = len(tokens) - 1 if len(tokens) > start and tokens[-1] in CURRENCIES else len(tokens)
    return tokens[start:end]


def _from_words(typed: _Typed) -> Amount | Ambiguous:
    if len(typed.parts) == 1 and typed.parts[0] in SLANG and typed.currency == "IDR":
        return Amount("IDR", SLANG[typed.parts[0]])
    try:
        number = read_words(typed.parts)
    except UnknownWords:
        raise AmountUnreadable from None
    first = number.values[0]
    if typed.currency == "IDR" and first < SMALLEST_AMOUNT and first.denominator == 1:
        return _from_bare_number(WrittenNumber(int(first), None, int(first)))
    if typed.currency == "IDR" and first < SMALLEST_AMOUNT and typed.parts[-1] in FRACTIONS:
        return _amount_or_choice(_shorthand(first), "IDR", must_ask=True)
    return _amount_or_choice(number.values, typed.currency, must_ask=not number.sure)


def _from_number(number: WrittenNumber, scales: tuple[int, ...], currency: str) -> Amount | Ambiguous:
    """Read a number with a scale, or with a currency other than rupiah."""
    meanings = [meaning * scale for meaning in number.meanings for scale in scales]
    is_whole_written_with_cents = number.whole is None and not number.grouped and meanings[0] < SMALLEST_AMOUNT
    if currency == "SAT" and scales == (1,) and is_whole_written_with_cents and meanings[0].denominator == 1:
        return _amount_or_choice([*meanings, Fraction(number.joined)], "SAT", must_ask=True, smallest=1)
    is_too_fine = any(1 < scale < 10**number.decimals for scale in scales)
    must_ask = len(scales) > 1 or number.may_be_group or is_too_fine
    return _amount_or_choice(meanings, currency, must_ask=must_ask, smallest=1 if currency == "₿" else SMALLEST_AMOUNT)


def _from_bare_number(number: WrittenNumber) -> Amount | Ambiguous:
    """Read a number alone: rupiah as written where that makes sense, otherwise the possible shorthands."""
    if number.whole is not None:
        return _from_bare_whole(number.whole, sure=number.grouped or number.exact is None)
    exact = number.exact or Fraction(0)
    if number.may_be_group:
        return _amount_or_choice(number.meanings, "IDR", must_ask=True)
    if number.grouped or exact >= SMALLEST_AMOUNT:
        is_odd = number.decimals > MOST_CENTS and exact.denominator == 1
        return _amount_or_choice([exact, *([Fraction(number.joined)] if is_odd else [])], "IDR")
    if exact.denominator > 1:
        return _amount_or_choice(_shorthand(exact), "IDR", must_ask=True)
    joined_too = [Fraction(number.joined)] if number.joined >= SMALLEST_AMOUNT else []
    return _amount_or_choice([exact * THOUSAND, *(joined_too or [exact * MILLION])], "IDR", must_ask=True)


def _from_bare_whole(whole: int, *, sure: bool) -> Amount | Ambiguous:
    if whole < SMALLEST_AMOUNT:
        return _amount_or_choice(_shorthand(Fraction(whole)), "IDR", must_ask=whole > 0)
    is_ambiguous = not sure and whole < AMBIGUOUS_BELOW
    return _amount_or_choice(
        [Fraction(whole), Fraction(whole * THOUSAND)] if is_ambiguous else [Fraction(whole)], "IDR"
    )


def _shorthand(number: Fraction) -> list[Fraction]:
    """Return what a small bare number can be short for: thousands or millions."""
    millions = number * MILLION
    return [number * THOUSAND] + ([millions] if millions < LARGEST_SHORTHAND else [])


def _amount_or_choice(
    readings: Iterable[Fraction], currency: str, *, must_ask: bool = False, smallest: int = SMALLEST_AMOUNT
) -> Amount | Ambiguous:
    """Return one certain amount, or the readings that make sense.

    Raises:
        AmountRejected: no reading makes sense. The reason is the first reading's.
    """
    unit: Currency = "IDR" if currency == "IDR" else "SAT"
    sums = {reading * factor for reading in readings for factor in _UNITS[currency]}
    whole = sorted(int(each) for each in sums if each.denominator == 1)
    in_range = [each for each in whole if 0 < each <= (MAX_RUPIAH if unit == "IDR" else MAX_SATS)]
    if not in_range:
        raise _reason(sums, whole, unit)
    sensible = [each for each in in_range if each >= smallest] or in_range
    amounts = tuple(Amount(unit, each) for each in sensible)
    return amounts[0] if len(amounts) == 1 and not must_ask else Ambiguous(amounts)


def _reason(sums: set[Fraction], whole: list[int], unit: Currency) -> AmountRejected:
    if all(each <= 0 for each in sums):
        return AmountRejected("core.amount.not_positive")
    if not whole:
        return AmountRejected("core.amount.fraction" if unit == "IDR" else "core.amount.fraction_sats")
    if unit == "IDR":
        return AmountRejected("core.amount.too_large", maximum=int(MAX_RUPIAH))
    return AmountRejected("core.amount.too_large_sats", maximum=int(MAX_SATS))
