"""Sums that name their unit: "500rb", "1,5 juta", "Rp 1 500 000", "dua juta lima ratus ribu", "25000 sats"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.checkout.parser.digit_groups import (
    CERTAIN_NUMBER_DIGITS,
    UNITS,
    DigitGroup,
    digits_of,
    is_digits,
    is_spaced_sum,
    is_spaced_thousands,
    is_sum,
    starts_as_number,
)
from bot.checkout.parser.vocabulary import (
    ABOUT,
    ACCOUNT_LABELS,
    ASIDE_LABELS,
    BEFORE_ONLY,
    COUNTED,
    EACH,
    FILLERS,
    GENERIC,
    LEADS_TO_NAME,
    NOT_THIS,
    PHONE_LABELS,
    SUM_OF_ELSE,
)
from bot.checkout.parser.words import Word, begins_as_digits
from bot.core.money import Ambiguous, Amount, AmountRejected, AmountUnreadable, ForeignCurrency, parse_amount
from bot.core.money.foreign import is_foreign_sum
from bot.core.money.vocabulary import (
    CURRENCIES,
    FRACTIONS,
    HUNDREDS,
    ONE_OF,
    PARTS,
    SCALES,
    SLANG,
    TIMES,
    words_in,
)

LONGEST_PHRASE: Final = 8
"""Maximum of words in one sum: "dua juta tujuh ratus lima puluh ribu rupiah" has eight."""

MOST_READINGS: Final = 4
MOST_UNITS: Final = 12
"""Maximum of money words in a line. A line with more is no order, and would take long to read."""

_SUM_WORDS: Final = frozenset({*SCALES, *ONE_OF, *SLANG, *TIMES, *HUNDREDS})
_INITIALS: Final = frozenset({"k", "m"})
"""Scales of one letter, which can also be initials of names. After a space they need a small number before them."""

_PRICED: Final = re.compile(r"(?:rp|idr)\.?([1-9]\d{0,2})")
"""The currency written together with a sum's first digits: "Rp1 500 000"."""

_UNITS: Final = frozenset({*CURRENCIES, *SCALES})
_SMALL: Final = 4
_BEFORE: Final = SUM_OF_ELSE | ABOUT | EACH | NOT_THIS
_BEHIND: Final = SUM_OF_ELSE | ABOUT | EACH | COUNTED
"""Words that make the sum next to them ambiguous: a fee, "about", "each", "not"."""

_LOOKED_PAST: Final = FILLERS | BEFORE_ONLY
"""Words that can be between a sum and those words: "maks Rp /999.000"."""

_LEADS_TO_NUMBER: Final = ACCOUNT_LABELS | PHONE_LABELS
_NO_NAME_BEGINS: Final = FILLERS | GENERIC | LEADS_TO_NAME
_DIGIT_LIKE: Final = re.compile(r"[lIOo]|(?:[Rr][Pp]|IDR|idr)\.?[lIOoSB]+")
"""Letters that are typed for a digit: "I 800 000", "RpI 800 000"."""

_INITIAL: Final = re.compile(r"[A-Z]")
_GROUP: Final = 3
"""Number of digits between two thousands separators."""

_LETTERS_THEN_SCALE: Final = re.compile(r"[lIOoSB.,]*[lIOoSB](?i:rb|rbu|ribu|jt|jta|juta)")
"""A sum with letters in place of all its digits: "ljt", "SOrb"."""

_PART_BEGINS: Final = tuple(word for word in (*FRACTIONS, *PARTS, *ONE_OF) if len(word) > 3)  # noqa: PLR2004  more than an initial
"""A word that begins with one of these is about a sum: "setengahnya", "separuh-nya", "sejutaan"."""

_ARTICLES: Final = frozenset({"a", "se"})
_SMALL_THEN_COMMA: Final = re.compile(r"\d{1,3},\d")
_MOST_FILLERS: Final = 3
Reading = Amount | Ambiguous | AmountRejected
"""What a text means if it is read as a sum."""


@dataclass(frozen=True, slots=True)
class Sum:
    """What the words from `start` to before `stop` say of the amount. It can be a rejection."""

    start: int
    stop: int
    text: str
    value: Reading


def find_sums(words: Sequence[Word]) -> list[Sum]:
    """Return all sums that name a unit, from left to right, the longest reading of each."""
    if sum(is_money(word) and not is_digits(word) for word in words) > MOST_UNITS:
        return []
    found, place = list[Sum](), 0
    while place < len(words):
        longest = next(_readings(words, place), None)
        if longest is not None:
            found.append(longest)
        place = longest.stop if longest else place + 1
    return found


def is_amount_unclear(words: Sequence[Word], start: int, stop: int) -> bool:
    """Return whether the words here or next to them make it unclear that this is the amount to send.

    They were cut out of more digits, or a sign says "about". Or they are a fee, a price for each, or a negated amount.
    Words that only introduce a sum ("biaya sebesar 5rb") are skipped.
    """
    before = start - 1
    if any(word.is_unclear for word in words[start:stop]) or (
        before >= 0 and _begins_before(words[before], words[start])
    ):
        return True
    while start - before <= _MOST_FILLERS and before >= 0 and words[before].folded.strip(".") in _LOOKED_PAST:
        before -= 1
    if before >= 0 and words[before].folded in _BEFORE:
        return True
    if stop == len(words):
        return False
    if _is_ending(words, stop):
        return True
    if is_digits(words[stop - 1]) and (_may_be_unit(words[stop : stop + 2]) or _goes_on(words, start, stop)):
        return True
    behind = COUNTED | ABOUT if words[stop].parted else _BEHIND  # "50rb/orang", "50.000,- lebih"
    return not words[stop].aside and words[stop].folded in behind


def _is_ending(words: Sequence[Word], place: int) -> bool:
    """Return whether "an" after a sum isn't "a.n." before a name: "500 rb an" means about half a million."""
    is_last = place + 1 == len(words) or words[place + 1].parted
    return is_last and words[place].folded == "an" and not words[place].parted


def _begins_before(before: Word, first: Word) -> bool:
    """Return whether the word before a sum may have its first digits, or owns them: "I 800 000", "km 5,26 jt"."""
    if first.text[0].isdecimal() and _DIGIT_LIKE.fullmatch(before.text):
        return True
    if is_digits(first) and before.folded.strip(".") in _LEADS_TO_NUMBER:
        return True  # "wa 895562084 sats 96835"
    return before.folded in ASIDE_LABELS and _SMALL_THEN_COMMA.match(first.text) is not None


def _goes_on(words: Sequence[Word], start: int, stop: int) -> bool:
    """Return whether more digits follow a sum with spaces, in a word that is no number: "Rp1 950 0:00", "O00"."""
    follower = words[stop]
    if stop - start == 1 or follower.parted or is_digits(follower) or not begins_as_digits(follower.text):
        return False
    return not _begins_name(words, stop)


def _begins_name(words: Sequence[Word], place: int) -> bool:
    """Return whether capital letters at `place` are initials of the name behind them: "I Made Wirawan", "I B Mantra".

    Letters in place of three digits ("O O O Budi") aren't initials, and neither is a letter before more digits.
    """
    stop = place
    while stop < len(words) and _INITIAL.fullmatch(words[stop].text) and not (stop > place and words[stop].parted):
        stop += 1
    if not 0 < stop - place < _GROUP or stop == len(words) or words[stop].parted:
        return False
    return words[stop].text[0].isalpha() and not begins_as_digits(words[stop].text) and not _has_digits(words[stop])


def _may_be_unit(words: Sequence[Word]) -> bool:
    """Return whether the words after a sum may be a broken unit: "45200 - k", "801000 sa-ts"."""
    first, joined = words[0].folded, "".join(word.folded for word in words)
    if first in _INITIALS:
        after = words[1] if len(words) > 1 else None
        if words[0].parted and words[0].text.islower():
            return True  # "36000;k"
        return after is None or after.parted or after.folded in _NO_NAME_BEGINS or not after.text.isalpha()
    return first not in _UNITS and joined in _UNITS


def make_ambiguous(value: Reading) -> Reading:
    """Return an amount as a reading that the user has to confirm. Return other values as they are."""
    return Ambiguous((value,)) if isinstance(value, Amount) else value


def is_unused_money_word(word: Word) -> bool:
    """Return whether a money word is outside all sums, so a sum wasn't fully understood."""
    if word.odd or len(word.text) == 1:
        return False
    folded = word.folded.removeprefix("rp").removeprefix("idr")
    if _LETTERS_THEN_SCALE.fullmatch(word.text) or folded.startswith(_PART_BEGINS):
        return True
    if any(each in ONE_OF or each in FRACTIONS for each in word.folded.split("-")):
        return True  # "semiliar-stgh"
    letters = "".join(filter(str.isalpha, word.folded))
    if letters != word.folded and (letters in CURRENCIES or letters in SCALES) and len(letters) > 1:
        return True  # "s'ats"
    units = _find_units(word)
    return units is not None and any(unit not in CURRENCIES for unit in units) and min(map(len, units)) > 1


def is_article(words: Sequence[Word], place: int) -> bool:
    """Return whether the word belongs to a part or a scale behind it, and so to no name: "a quarter", "se perempat"."""
    if words[place].folded not in _ARTICLES or place + 1 == len(words) or words[place + 1].parted:
        return False
    first = (_find_units(words[place + 1]) or [""])[0]
    return first in UNITS or first in FRACTIONS or first in PARTS


def may_scale(words: Sequence[Word], place: int) -> bool:
    """Return whether a "k" or "m" is a scale rather than an initial: "500 - k Budi", "tiga k", "½ K", "of a k".

    A capital is an initial behind digits ("500 K Anwar"), but not behind a part.
    """
    if place == 0 or words[place].folded not in _INITIALS:
        return False
    before = words[place - 1]
    if len(digits_of(before.text)) >= CERTAIN_NUMBER_DIGITS:
        return False
    if before.folded in _ARTICLES:
        return place > 1 and (words[place - 2].folded == "of" or _ends_as_count(words[place - 2]))
    return _ends_as_part(before) or (words[place].text.islower() and _ends_as_count(before))


def _ends_as_part(word: Word) -> bool:
    last = (_find_units(word) or [""])[-1]
    is_fraction = word.text[-1].isnumeric() and not word.text[-1].isdecimal()
    return is_fraction or last in FRACTIONS or last in PARTS


def _ends_as_count(word: Word) -> bool:
    """Return whether the word ends with a number, or a part of one, that has no scale yet."""
    if word.text[-1].isnumeric() or is_foreign_sum(word.text):
        return True
    last = (_find_units(word) or [""])[-1]
    return bool(last) and last not in SCALES and last not in ONE_OF and last not in SLANG and last not in CURRENCIES


def find_separate_currency(words: Sequence[Word], sums: Sequence[Sum]) -> str | None:
    """Return a currency other than rupiah outside all sums. It is unclear whether it belongs to a sum."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    outside = (word.folded for place, word in enumerate(words) if place not in taken)
    return next((text for text in outside if CURRENCIES.get(text, "IDR") != "IDR"), None)


def ends_with_initial(words: Sequence[Word], found: Sum) -> bool:
    """Return whether the sum's last word is a single letter, which may begin the next name: "5 m ali"."""
    return found.stop - found.start > 1 and words[found.stop - 1].folded in _INITIALS


def is_money(word: Word) -> bool:
    """Return whether the word is part of how sums are written."""
    return not word.odd and (is_digits(word) or _find_units(word) is not None)


def join_typed(words: Sequence[Word]) -> str:
    """Return the words of a sum as one text."""
    return " ".join(word.typed for word in words)


def read_sum(text: str) -> Reading | None:
    """Return the sum in `text`, or None if there is none."""
    try:
        return parse_amount(text)
    except AmountUnreadable:
        return None
    except AmountRejected as refused:
        return refused


def _readings(words: Sequence[Word], start: int) -> Iterator[Sum]:
    stop = start
    while stop < min(len(words), start + LONGEST_PHRASE) and is_money(words[stop]):
        if stop > start and words[stop].parted:
            break
        stop += 1
    for end in range(stop, start, -1):
        if _may_be_phrase(words, start, end):
            text = join_typed(words[start:end])
            value = read_sum(text)
            if value is not None:
                value = _check_bare_digits(words[start:end], value)
                yield Sum(start, end, text, make_ambiguous(value) if is_amount_unclear(words, start, end) else value)


def _check_bare_digits(phrase: Sequence[Word], value: Reading) -> Reading:
    """Return `value`, or the question whether bare digits at an end ("1 500rb", "1 juta 500") are part of it."""
    shorter: Sequence[Word] = ()
    if len(phrase) > 1 and is_digits(phrase[0]) and _has_digits(phrase[1]) and not is_digits(phrase[1]):
        shorter = phrase[1:]
    elif _ends_with_short_number(phrase):
        shorter = phrase[:-1]
    without = read_sum(join_typed(shorter)) if shorter else None
    both = tuple(dict.fromkeys((*list_amounts(without), *list_amounts(value))))
    return Ambiguous(both) if without is not None and both else value


def _ends_with_short_number(phrase: Sequence[Word]) -> bool:
    """Return whether this is "1 juta 500" or "1jt 5", whose last digits are ambiguous."""
    last = phrase[-1]
    if len(phrase) == 1 or not is_digits(last) or starts_as_number(last.text) or len(digits_of(last.text)) >= _SMALL:
        return False
    before = phrase[-2]
    return not is_digits(before) and not CURRENCIES.keys() & set(_find_units(before) or ())


def list_amounts(value: Reading | None) -> tuple[Amount, ...]:
    """Return the sums that `value` may be."""
    if isinstance(value, Amount):
        return (value,)
    return value.readings if isinstance(value, Ambiguous) else ()


def _may_be_phrase(words: Sequence[Word], start: int, stop: int) -> bool:
    """Return whether these words can be one sum without digits of the number next to it."""
    phrase = words[start:stop]
    if not any(_names_sum(word, alone=len(phrase) == 1) for word in phrase):
        return False
    if any(word.folded in _INITIALS and not _is_scale(phrase[:place]) for place, word in enumerate(phrase)):
        return False
    return _starts_well(words, start, stop) and _ends_well(words, start, stop)


def _is_scale(before: Sequence[Word]) -> bool:
    """Return whether a letter after these words is a scale ("50 k") and not an initial ("50rb M. Ali")."""
    if not before or not is_digits(before[-1]) or len(digits_of(before[-1].text)) > _SMALL:
        return False
    return len(before) == 1 or not _has_digits(before[-2])


def _names_sum(word: Word, *, alone: bool) -> bool:
    units = _find_units(word)
    if units is None or is_digits(word):
        return False
    return (
        not _SUM_WORDS.isdisjoint(units) or _has_digits(word) or (not alone and not CURRENCIES.keys().isdisjoint(units))
    )


def _starts_well(words: Sequence[Word], start: int, stop: int) -> bool:
    """Return whether the sum begins with one word of digits, or with complete thousands separated by spaces."""
    run = _find_run(words, start, stop)
    if not run:
        return not (begins_part(words, start) and _may_be_count(words, start - 1))
    if _may_be_count(words, start) and begins_part(words, start + 1):
        return False
    if _is_within_run(words, start):
        text = words[start].text
        is_own = is_sum(text) or (len(digits_of(text)) < _SMALL and not starts_as_number(text))
        after = words[start + 1] if start + 1 < stop else None
        return len(run) == 1 and is_own and after is not None and _is_unit(after) and not _leads_on(words, start + 1)
    return _is_one_number(words, run)


def _leads_on(words: Sequence[Word], place: int) -> bool:
    """Return whether the currency at `place` belongs to what follows: "8658 69 28800 56 Rp, 2 juta"."""
    if words[place].folded.strip(".") not in BEFORE_ONLY:
        return False
    follows = place + 1 < len(words) and (is_money(words[place + 1]) or words[place + 1].text[0].isdecimal())
    return follows or not is_sum(words[place - 1].text)


def begins_part(words: Sequence[Word], place: int) -> bool:
    """Return whether a fraction begins at `place`: "setengah", "tiga perempat"."""
    units = [unit for word in words[place : place + 2] if not _has_digits(word) for unit in _find_units(word) or [""]]
    return bool(units) and (units[0] in FRACTIONS or units[0] in PARTS or (len(units) > 1 and units[1] in PARTS))


def _may_be_count(words: Sequence[Word], place: int) -> bool:
    """Return whether a small number counts a unit behind it, or ends a number in pieces: "7769 1622 9 setengah"."""
    if place < 0 or not is_digits(words[place]) or words[place + 1].parted:
        return False
    return len(digits_of(words[place].text)) < _SMALL and _is_within_run(words, place)


def _is_unit(word: Word) -> bool:
    """Return whether the word is certainly a unit. A letter after pieces of a number begins a name ("789 M. Ali")."""
    return word.folded not in _INITIALS and not _has_digits(word)


def _is_one_number(words: Sequence[Word], run: range) -> bool:
    text = " ".join(words[place].text for place in run)
    if _is_number_by_itself(words[run[0]].text) and not (words[run[0]].mark and len(digits_of(text)) < _GROUP):
        return False
    if len(run) > 1:
        return is_spaced_thousands(text) and words[run[-1] + 1].folded.strip(".") in CURRENCIES
    return True


def _ends_well(words: Sequence[Word], start: int, stop: int) -> bool:
    """Return whether last digits follow a currency, and a last currency has no digits after it."""
    last = words[stop - 1]
    if is_digits(last):
        is_last = stop == len(words) or not is_digits(words[stop])
        return _follows_currency(words, start, stop) or (is_last and _ends_with_short_number(words[start:stop]))
    follows = stop < len(words) and words[stop].text[0].isdecimal() and not words[stop].parted
    is_of_next = follows and not _is_number_by_itself(words[stop].text)  # "500 000 rp 1234567890": no sum is so long
    return not (is_of_next and stop - start > 1 and last.folded in BEFORE_ONLY)


def _follows_currency(words: Sequence[Word], start: int, stop: int) -> bool:
    first = words[start].folded.strip(".")
    if start > 0 and not words[start].parted and (_find_units(words[start - 1]) or [""])[-1] in SCALES:
        return False  # "2 juta sats 8469": the currency belongs to what is before it
    priced = _PRICED.fullmatch(first)
    if not (priced or first in CURRENCIES) or _find_run(words, start + 1, stop) != range(start + 1, stop):
        return False
    rest = [*([priced[1]] if priced else []), *(word.text for word in words[start + 1 : stop])]
    is_last = stop == len(words) or words[stop].parted or not is_digits(words[stop])
    if len(rest) > 1:
        return is_spaced_thousands(" ".join(rest)) or (is_last and is_spaced_sum(" ".join(rest)))
    if starts_as_number(rest[0]) or is_sum(rest[0]):
        return is_sum(rest[0])
    follower = words[stop] if stop < len(words) and not words[stop].parted and is_digits(words[stop]) else None
    is_cut = follower is not None and not _is_number_by_itself(follower.text)
    return len(digits_of(rest[0])) < CERTAIN_NUMBER_DIGITS and not is_cut


def _is_number_by_itself(text: str) -> bool:
    return starts_as_number(text) or len(digits_of(text)) >= CERTAIN_NUMBER_DIGITS


def _find_run(words: Sequence[Word], start: int, stop: int) -> range:
    """Return the words of digits alone that begin at `start`."""
    end = start
    while end < stop and is_digits(words[end]):
        end += 1
    return range(start, end)


def _is_within_run(words: Sequence[Word], place: int) -> bool:
    """Return whether the digits before may belong to the same number. A complete number needs no more digits."""
    if place == 0 or words[place].parted or not is_digits(words[place - 1]):
        return False
    return len(digits_of(words[place - 1].text)) < CERTAIN_NUMBER_DIGITS


def _find_units(word: Word) -> list[str] | None:
    """Return the money words in `word` without digits ("500rb", "rp50.000"), or None if it has other words."""
    letters = re.sub(r"-?\d[\d.,']*", " ", word.folded.rstrip("."))
    units = list[str]()
    for run in letters.replace(".", " ").split():
        found = words_in(run)
        if found is None:
            return None
        units += found
    return units


def _has_digits(word: Word) -> bool:
    return any(character.isdecimal() for character in word.text)


@dataclass(frozen=True, slots=True)
class Money:
    """The amount of a line, or the readings of `text`, or why it is rejected."""

    amount: Amount | None = None
    readings: tuple[Amount, ...] = ()
    text: str = ""
    rejection: AmountRejected | None = None

    @property
    def ambiguous(self) -> "Money":
        """The same amount as a reading that the user has to confirm."""
        if self.amount is None:
            return self
        return replace(self, amount=None, readings=(self.amount,))

    @property
    def foreign(self) -> "Money":
        """A sum in another currency: none of its readings is offered."""
        return Money(text=self.text, rejection=ForeignCurrency())


def decide_money(
    sums: Sequence[Sum], groups: Sequence[DigitGroup], *, has_number: bool, separate_currency: str | None = None
) -> tuple[Money, list[DigitGroup]]:
    """Return the amount, and the digits that are still unused.

    `separate_currency`: a currency named apart from the sum. The sum may be in this currency.
    """
    readings = [(each.text, each.value) for each in sums] + list(_read(groups, {"sum"}))
    if separate_currency is not None:
        readings += [
            (text, other) for text, _ in readings if (other := read_sum(f"{text} {separate_currency}")) is not None
        ]
    if readings:
        return _combine(readings), [each for each in groups if each.kind != "sum" or read_sum(each.text) is None]
    may_be_sum = list(_read(groups, {"short", "unsure"} if has_number else {"short"}))
    if len(may_be_sum) != 1 or len(may_be_sum) != sum(each.kind != "number" for each in groups):
        return Money(), list(groups)
    return _ask_amount(*may_be_sum[0]), [each for each in groups if each.kind == "number"]


def _read(groups: Sequence[DigitGroup], kinds: set[str]) -> Iterator[tuple[str, Reading]]:
    for each in groups:
        value = read_sum(each.text) if each.kind in kinds else None
        if value is not None:
            yield each.text, make_ambiguous(value) if each.is_unclear else value


def _combine(found: Sequence[tuple[str, Reading]]) -> Money:
    """Return the one sum that the line names, or all that it can be."""
    texts = " / ".join(dict.fromkeys(text for text, _ in found))
    values = list(dict.fromkeys(list_amounts(value) for _, value in found))
    rejection = next((value for _, value in found if isinstance(value, AmountRejected)), None)
    certain = next((value for _, value in found if isinstance(value, Amount)), None)
    if len(values) == 1 and certain is not None and all(isinstance(value, Amount) for _, value in found):
        return Money(amount=certain, text=texts)
    readings = tuple(
        sorted({amount for each in values for amount in each}, key=lambda each: (each.currency, each.value))
    )
    return Money(readings=readings if len(readings) <= MOST_READINGS else (), text=texts, rejection=rejection)


def _ask_amount(text: str, value: Reading) -> Money:
    """Return readings to confirm, even if there is only one: the digits may not be a sum at all."""
    if isinstance(value, AmountRejected):
        return Money(text=text, rejection=value)
    return Money(readings=list_amounts(value), text=text)
