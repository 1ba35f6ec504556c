"""Currencies that we don't send ("usd", "$", "won") in a line, and whether a sum is in one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.parser.digit_groups import digits_of, is_digits, is_spaced_sum, is_sum, starts_as_number
from bot.checkout.parser.sums import Sum, is_unused_money_word
from bot.checkout.parser.vocabulary import BUSINESS, CURRENCIES_TOO, FILLERS, KNOWN_NAMES, LEADS_TO_NAME, TITLES
from bot.checkout.parser.words import WHOLE_NUMBER, Word
from bot.core.money.foreign import FOREIGN_LANDS, is_foreign, is_foreign_beside_a_sum, is_foreign_sum
from bot.core.money.vocabulary import CURRENCIES

_BEFORE_NAME: Final = LEADS_TO_NAME | TITLES | BUSINESS
_MOST_GROUPS: Final = 3
"""Number of words in a sum with spaces: "1 500 000"."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The places of a line's foreign currencies.

    - `names_sum`: one of them says what a number counts.
    - `torn`: the places next to one that is also a person's name, and may be the rest of a holder's ("Lee Won 500rb").
    """

    places: frozenset[int] = frozenset()
    names_sum: bool = False
    torn: frozenset[int] = frozenset()


def find_foreign(words: Sequence[Word], sums: Sequence[Sum]) -> Foreign:
    """Return the currencies in a line that are neither rupiah nor bitcoin."""
    places, names_sum = set[int](), False
    for place, word in enumerate(words):
        if word.text.isdecimal() or word.aside:
            continue
        if is_foreign_sum(word.text):
            places.update(_with_lands(words, place))
            names_sum = True
        elif is_foreign(word.text):
            named = _with_lands(words, place)
            is_beside = _is_beside_number(words, named, sums)
            if is_beside or not _is_of_name(words, place):
                places.update(named)
                names_sum = names_sum or is_beside
        elif is_foreign_beside_a_sum(word.text) and _is_currency(words, place, sums):
            places.add(place)
            names_sum = names_sum or word.folded not in FILLERS
    may_be_names = [place for place in places if _may_be_else(words[place])]
    torn = frozenset(at for place in may_be_names for at in (place - 1, place + 1))
    return Foreign(frozenset(places), names_sum, torn)


def _with_lands(words: Sequence[Word], place: int) -> range:
    """Return the places of a currency and of the words around it that say whose it is."""
    start, stop = place, place + 1
    while start > 0 and words[start - 1].folded in FOREIGN_LANDS and not words[start].parted:
        start -= 1
    while stop < len(words) and words[stop].folded in FOREIGN_LANDS and not words[stop].parted:
        stop += 1
    return range(start, stop)


def _is_beside_number(words: Sequence[Word], places: range, sums: Sequence[Sum]) -> bool:
    """Return whether a sum, or digits that can be one, are next to these words.

    A person's name, or a polite word, can also be next to an account number in pieces.
    """
    return _ends_number(words, places.start - 1, sums) or _begins_number(words, places.stop, sums)


def _ends_number(words: Sequence[Word], place: int, sums: Sequence[Sum]) -> bool:
    """Return whether the word at `place` is the end of a sum, or of digits that can be one."""
    if any(each.stop == place + 1 for each in sums) or _is_amount_word(words, place):
        return True
    if not _is_small(words, place) or not _may_be_else(words[place + 1]):
        return _is_small(words, place)
    start = place
    while start > 0 and not words[start].parted and _is_small(words, start - 1):
        start -= 1
    texts = [word.text for word in words[start : place + 1]]
    spaced = (" ".join(texts[at:]) for at in range(max(0, len(texts) - _MOST_GROUPS), len(texts) - 1))
    return is_sum(texts[-1]) or any(map(is_spaced_sum, spaced)) or _count_digits(texts) < WHOLE_NUMBER


def _begins_number(words: Sequence[Word], place: int, sums: Sequence[Sum]) -> bool:
    """Return whether the word at `place` is the beginning of a sum, or of digits that can be one."""
    if any(each.start == place for each in sums) or _is_amount_word(words, place):
        return True
    if not _is_small(words, place) or starts_as_number(words[place].text):
        return False
    stop = place + 1
    while stop < len(words) and not words[stop].parted and _is_small(words, stop):
        stop += 1
    is_short = _count_digits(word.text for word in words[place:stop]) < WHOLE_NUMBER
    return is_short or is_sum(words[place].text) or not _may_be_else(words[place - 1])


def _is_amount_word(words: Sequence[Word], place: int) -> bool:
    """Return whether the word at `place` is one of an amount that wasn't fully understood."""
    return 0 <= place < len(words) and is_unused_money_word(words[place])


def _is_small(words: Sequence[Word], place: int) -> bool:
    """Return whether the word at `place` has digits alone, but too few for an account number."""
    return 0 <= place < len(words) and is_digits(words[place]) and len(digits_of(words[place].text)) < WHOLE_NUMBER


def _count_digits(texts: Iterable[str]) -> int:
    return sum(len(digits_of(text)) for text in texts)


def _may_be_else(word: Word) -> bool:
    """Return whether the word may be a person's name, or only polite."""
    return word.folded in FILLERS or (word.folded in CURRENCIES_TOO and _is_capitalised(word))


def _is_of_name(words: Sequence[Word], place: int) -> bool:
    """Return whether the words before say that this is a name: "a.n. Euro Jaya", "PT Dolar"."""
    return place > 0 and words[place - 1].folded in _BEFORE_NAME and not words[place].parted


def _is_currency(words: Sequence[Word], place: int, sums: Sequence[Sum]) -> bool:
    return _is_beside_number(words, range(place, place + 1), sums) and not _is_name(words, place, sums)


def _is_name(words: Sequence[Word], place: int, sums: Sequence[Sum]) -> bool:
    """Return whether a word next to a number, which may be a currency, is more likely a name or only polite.

    It is if the number says that it is rupiah, or if a name is led to. So is a capitalised word that a mark separates
    from the number, or that is a common name beside a unit ("500rb Mark").
    """
    beside = [each for each in sums if place in {each.start - 1, each.stop}]
    if _is_of_name(words, place) or any(_is_rupiah(words, each) for each in beside):
        return True
    word = words[place]
    is_behind = _ends_number(words, place - 1, sums)
    if word.folded in FILLERS and not is_behind:
        return True  # "dong" asks politely, and is Vietnam's currency
    if word.folded not in CURRENCIES_TOO or not _is_capitalised(word):
        return False
    is_parted = word.parted if is_behind else words[place + 1].parted
    return is_parted or (bool(beside) and word.folded in KNOWN_NAMES)


def _is_capitalised(word: Word) -> bool:
    return word.text[:1].isupper() and word.text[1:].islower()


def _is_rupiah(words: Sequence[Word], found: Sum) -> bool:
    """Return whether the sum names rupiah: "Rp500.000 Won"."""
    return any(
        CURRENCIES.get("".join(filter(str.isalpha, word.folded))) == "IDR" for word in words[found.start : found.stop]
    )
