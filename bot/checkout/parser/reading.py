"""One line of text read as an order: each word belongs to one part at most, and what is uncertain is marked as such."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.checkout.parser.currencies import Foreign, find_foreign
from bot.checkout.parser.digit_groups import digits_of, is_digits, is_of_name, set_aside
from bot.checkout.parser.names import (
    Destination,
    Name,
    find_destinations,
    find_name,
    is_destination_unclear,
    may_be_name,
)
from bot.checkout.parser.numbers import (
    LEAST_OF_RIVAL,
    Number,
    decide_number,
    has_rival,
    is_phone,
    may_go_on,
    read_runs,
    takes_any_number,
)
from bot.checkout.parser.sums import (
    Money,
    Sum,
    decide_money,
    ends_with_initial,
    find_separate_currency,
    find_sums,
    is_article,
    is_unused_money_word,
    may_scale,
)
from bot.checkout.parser.vocabulary import COUNTED, EACH, LEADS_TO_DESTINATION, MONTHS, ROUGHLY
from bot.checkout.parser.words import WHOLE_NUMBER, Word, begins_as_digits, words_of
from bot.core.errors import Rejection, Remark
from bot.core.money import Amount
from bot.recipients.numbers import NumberRejected, read_links, to_international
from bot.recipients.search import MAX_CANDIDATES
from bot.settlement.model import PayoutMethod

LONGEST_LINE: Final = 300
"""Maximum in characters. Longer texts aren't read."""

MOST_WORDS: Final = 40
_DIGITS_FIRST: Final = re.compile(r"[\W_]*x?[\W_]*\d", re.IGNORECASE)
"""Words such as "3x", "x3", "@500rb", "500rban": a letter before the digits makes a code of them ("B12")."""

_CURRENCY_FIRST: Final = re.compile(r"(?:rp|idr)\.?", re.IGNORECASE)
_LONGEST_YEAR: Final = 4
_MOST_SHOWN: Final = 8
LONGEST_ORDER: Final = 160
"""Maximum in characters for a plain message. Orders that users type are shorter."""

_LEAST_DIGITS: Final = 8
_TALKS = re.compile(r"[?\uff1f]|https?:|www\.|@|^\s*/|t\.me", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLine:
    """The parts of an order that one line names. A doubtful part is never also a certain one.

    - `method`: the destination, or None and `method_candidates`, the likeliest first.
    - `number`: in the form that is sent if the method is known. Otherwise the unchecked digits as typed. A phone number
      then has its country code, which no bank accepts.
    - `doubtful_number`: a number to confirm. `number_remark` says why. It is None without a method, because the method
      decides which numbers are usual.
    - `amount`: the amount, or None and `amount_readings`, the sums that `amount_text` may mean.
    - `holder`: the name as a bank would print it, or None and `doubtful_holder`, words that may be a name.
    - `rejections`: why parts that were understood can't be accepted.
    - `leftover`: the words that weren't understood.
    """

    method: PayoutMethod | None = None
    method_candidates: tuple[PayoutMethod, ...] = ()
    number: str | None = None
    doubtful_number: str | None = None
    number_remark: Remark | None = None
    amount: Amount | None = None
    amount_readings: tuple[Amount, ...] = ()
    amount_text: str = ""
    holder: str | None = None
    doubtful_holder: str | None = None
    rejections: tuple[Rejection, ...] = ()
    leftover: tuple[str, ...] = ()


def read_line(text: str, methods: Sequence[PayoutMethod]) -> OneLine:
    """Return what `text` ("500rb bca 1234567890 Budi", in any order) says of an order among the live `methods`.

    Never raises, and never guesses. Two numbers are no number, and two sums are two readings of the sum.
    """
    words = words_of(text) if len(text) <= LONGEST_LINE else []
    if not words:
        return OneLine(leftover=tuple(text[:LONGEST_LINE].split()[:_MOST_SHOWN]))
    return read_words(words, methods)


def read_words(words: Sequence[Word], methods: Sequence[PayoutMethod]) -> OneLine:
    """Return what `words`, already cut out of a line, say of an order."""
    if len(words) > MOST_WORDS:
        return OneLine(leftover=tuple(word.text for word in words[:_MOST_SHOWN]))
    words = set_aside(words)
    sums = find_sums(words)
    free = [not _is_odd(word) and not is_digits(word) and not is_article(words, at) for at, word in enumerate(words)]
    _mark_taken(free, sums)
    foreign = find_foreign(words, sums)
    for place in foreign.places:
        free[place] = False
    places = find_destinations(words, free, methods)
    _mark_taken(free, places)
    return _put_together(words, free, sums, places, foreign)


def _put_together(
    words: Sequence[Word],
    free: Sequence[bool],
    sums: Sequence[Sum],
    places: Sequence[Destination],
    foreign: Foreign,
) -> OneLine:
    method, candidates = _choose_method(places)
    groups, unclear = read_runs(words, sums, free, method, candidates)
    number, rest = decide_number(groups, method)
    name = find_name(words, free, foreign.torn | _find_torn_places(words, sums, places, method))
    if not _is_confirmed(words, places, number, name):
        # Nothing confirms the destination's name, so it is offered as a choice.
        method, candidates = None, candidates or tuple(filter(None, (method,)))
        groups, unclear = read_runs(words, sums, free, None, candidates)
        number, rest = decide_number(groups, None)
        name = find_name(words, free, foreign.torn | _find_torn_places(words, sums, places, None))
    has_number = number.number is not None
    bare_sums = [each.places for each in rest if each.kind == "sum"]
    money, unused = decide_money(
        sums, rest, has_number=has_number, separate_currency=find_separate_currency(words, sums)
    )
    # Banks' own codes come before numbers by habit ("bca 014 …"); they add nothing to the name.
    unread = {place for each in unused for place in each.places if not _is_code(words[place], method)} | set(unclear)
    odd = {place for place, word in enumerate(words) if _is_odd(word) and not is_of_name(words, place)}
    unread |= odd | set(name.leftover)
    has_sum = money.amount is not None and not foreign.names_sum
    if may_go_on(words, sums, number, unread, method, has_sum=has_sum):
        unread |= set(number.places)
        if any(each.start == number.places.stop or each.stop == number.places.start for each in bare_sums):
            money = money.ambiguous
        number = Number()
    if number.remark is not None and may_go_on(
        words, sums, replace(number, remark=None), range(len(words)), method, has_sum=False
    ):
        money = money.ambiguous
    is_odd_rival = any(_may_be_number(words[place]) for place in unread if not is_digits(words[place]))
    possible_amount = {place for each in rest for place in each.places if money.amount is None}
    if is_odd_rival or has_rival(words, sums, number, unread, method, possible_amount=possible_amount):
        unread |= set(number.places)
        number = Number()
    if method is None and is_phone(words, number):
        telephone = to_international(number.number or number.doubtful or "")
        unread |= set() if telephone else set(number.places)
        number = replace(number, number=telephone, doubtful=None)
    unused_money = {place for place, word in enumerate(words) if free[place] and is_unused_money_word(word)}
    if (number.number or number.doubtful) is None and any(_follows_digits(words, each) for each in sums):
        money = money.ambiguous
    starts = [*(each.start for each in bare_sums), *(each.start for each in sums)]
    if number.number is None and any(words[at].cut for at in starts):
        money = money.ambiguous
    if any(_may_change_sum(words, place) for place in unread | unused_money) or _is_rough(words, sums):
        money = money.ambiguous
    money = _with_currency(money, foreign)
    unread -= foreign.places
    return OneLine(
        method=method,
        method_candidates=candidates,
        number=number.number,
        doubtful_number=number.doubtful,
        number_remark=number.remark,
        amount=money.amount,
        amount_readings=money.readings,
        amount_text=money.text,
        holder=name.holder,
        doubtful_holder=name.doubtful,
        rejections=tuple(each.rejection for each in (number, money, name) if each.rejection is not None),
        leftover=tuple(words[place].text for place in sorted(unread)),
    )


def _with_currency(money: Money, foreign: Foreign) -> Money:
    if foreign.names_sum:
        return money.foreign
    return money.ambiguous if foreign.places else money


def _is_odd(word: Word) -> bool:
    """Return whether the word is neither digits that we read nor letters: "1/2", "⑤", "&"."""
    return word.odd or not (is_digits(word) or any(each.isalpha() or each == "₿" for each in word.text))


def _is_code(word: Word, method: PayoutMethod | None) -> bool:
    return method is not None and word.text == method.code


def _may_be_number(word: Word) -> bool:
    """Return whether a word that wasn't understood may be the number: "8661.8600._1", but no code ("JX1234567890")."""
    return not word.aside and _DIGITS_FIRST.match(word.text) is not None and len(digits_of(word.text)) >= LEAST_OF_RIVAL


def _follows_digits(words: Sequence[Word], found: Sum) -> bool:
    """Return whether unused digits come right before a sum, whose first digits may belong to them."""
    return found.start > 0 and not words[found.start].parted and is_digits(words[found.start - 1])


def _is_rough(words: Sequence[Word], sums: Sequence[Sum]) -> bool:
    """Return whether a word says "each" or, outside of the sums, "about", anywhere in the line."""
    within = {place for each in sums for place in range(each.start, each.stop)}  # "setengah juta"
    said = (word.folded for place, word in enumerate(words) if place not in within)
    return any(word.folded in EACH for word in words) or not ROUGHLY.isdisjoint(said)


def _may_change_sum(words: Sequence[Word], place: int) -> bool:
    """Return whether a word that wasn't understood may be part of the sum, or say how often it is meant."""
    word = words[place]
    if _may_be_scale(words, place):
        return True
    if word.aside or len(digits_of(word.text)) >= WHOLE_NUMBER:
        return False
    if begins_as_digits(_CURRENCY_FIRST.sub("", word.text)) and digits_of(word.text):
        return True
    return word.odd or _DIGITS_FIRST.match(word.text) is not None or is_unused_money_word(word)


def _is_confirmed(words: Sequence[Word], places: Sequence[Destination], number: Number, name: Name) -> bool:
    """Return whether the line clearly says where the money goes.

    A misspelt name needs a number that is usual for that bank. So does a name that is also a person's or a place's, if
    the number could be any bank's and the line names no other holder.
    """
    if any(is_destination_unclear(words, place) for place in places):
        return False
    if not all(place.is_certain for place in places):
        return number.number is not None
    if len(places) != 1 or number.number is None or not may_be_name(words, places[0]) or name.holder or name.doubtful:
        return True
    if places[0].start > 0 and words[places[0].start - 1].folded in LEADS_TO_DESTINATION:
        return True
    return not all(takes_any_number(method) for method in places[0].methods)


def _find_torn_places(
    words: Sequence[Word], sums: Sequence[Sum], places: Sequence[Destination], method: PayoutMethod | None
) -> set[int]:
    """Return the places next to a word that may be the rest of a name.

    Such a word is a bank or a month that is also a person's name, or the letter at the end of a sum.
    """
    doubtful = [
        each
        for each in places
        if (method is None and not each.is_certain) or (len(places) > 1 and may_be_name(words, each))
    ]
    torn = {at for each in doubtful for at in (each.start - 1, each.stop)}
    torn |= {each.stop for each in sums if ends_with_initial(words, each)}
    torn |= {at for at in range(1, len(words)) if may_scale(words, at)}
    torn |= {at for at in range(len(words) - 1) if _is_letter_of_code(words, at, sums)}
    torn |= {each.stop for each in sums if _is_counted(words, each.stop)}
    torn |= {at for at in range(len(words) - 1) if words[at].folded in MONTHS and _is_small_number(words[at + 1])}
    return torn | {at + 1 for at, word in enumerate(words) if word.aside and word.folded in MONTHS}


def _may_be_scale(words: Sequence[Word], place: int) -> bool:
    """Return whether an unknown letter may scale the digits right before it: "37000 k mengirim"."""
    before = words[place - 1]
    is_letter = len(words[place].text) == 1 and words[place].text.isalpha()
    return is_letter and place > 0 and is_digits(before) and len(digits_of(before.text)) < WHOLE_NUMBER


def _is_letter_of_code(words: Sequence[Word], place: int, sums: Sequence[Sum]) -> bool:
    """Return whether a letter before a small number outside all sums may belong to that number: "Eko H-)1"."""
    is_in_sum = any(each.start <= place + 1 < each.stop for each in sums)
    return len(words[place].text) == 1 and _is_small_number(words[place + 1]) and not is_in_sum


def _is_counted(words: Sequence[Word], place: int) -> bool:
    """Return whether a slash and a word say what the sum is for: "50rb/hari"; Hari is a name too."""
    return place < len(words) and words[place].parted and words[place].folded in COUNTED


def _is_small_number(word: Word) -> bool:
    """Return whether the number may be a year or a day, also with a wrong mark in it: "202*6"."""
    return 0 < len(digits_of(word.text)) <= _LONGEST_YEAR and not any(map(str.isalpha, word.text))


def _mark_taken(free: list[bool], parts: Sequence[Sum] | Sequence[Destination]) -> None:
    for part in parts:
        free[part.start : part.stop] = [False] * (part.stop - part.start)


def _choose_method(places: Sequence[Destination]) -> tuple[PayoutMethod | None, tuple[PayoutMethod, ...]]:
    """Return the one method that all `places` mean, or the methods that they may mean."""
    meant = tuple(dict.fromkeys(method for place in places for method in place.methods))
    if len(meant) == 1 and all(place.is_certain or place.clear for place in places):
        return meant[0], ()
    return None, meant[:MAX_CANDIDATES]


def looks_like_order(text: str, methods: Sequence[PayoutMethod]) -> bool:
    """Return whether a message without a command, while no draft is open, begins an order.

    It must have an account or mobile number, with a destination or a sum, and no unknown word: an unwanted draft is
    worse than one more question.
    """
    if len(text) > LONGEST_ORDER or _TALKS.search(read_links(text)) or sum(map(str.isdecimal, text)) < _LEAST_DIGITS:
        return False
    line = read_line(text, methods)
    if line.leftover:
        return False
    if line.number is not None:
        return line.method is not None or line.amount is not None
    is_rejected = any(isinstance(each, NumberRejected) for each in line.rejections)
    return (line.number_remark is not None or is_rejected) and line.method is not None and line.amount is not None
