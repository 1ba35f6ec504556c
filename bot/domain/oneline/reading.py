"""One line of text read as an order: each word is given to one part at the most, and what is doubtful is said so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.errors import Rejection, Remark
from bot.domain.money import Amount
from bot.domain.oneline.deciding import decide_money, decide_number, read_runs
from bot.domain.oneline.destinations import Destination, find_destinations, may_be_name
from bot.domain.oneline.figures import is_figures
from bot.domain.oneline.names import find_name
from bot.domain.oneline.sums import Sum, find_sums, loose_currency
from bot.domain.oneline.words import Word, words_of
from bot.domain.payout import PayoutMethod
from bot.domain.payout.searching import MOST_OFFERED

LONGEST_LINE: Final = 300
"""Characters; longer texts are letters, not orders, and nothing is picked out of them."""

MOST_WORDS: Final = 40
_MOST_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLine:
    """What one line says of an order. What is doubtful is never among the sure parts.

    `method`: the destination; or none and `method_candidates`, the likeliest first. `number`: in the form that is sent
    where the method is known, otherwise the digits as typed, yet unchecked. `doubtful_number`: a number with
    `number_doubt`, the question to ask first (None where no method is known, which decides what is usual).
    `amount`; or none and `amount_readings`, the sums that `amount_text` may mean. `holder`: the name as a bank would
    print it. `rejections`: what was understood and can't be accepted. `leftover`: the words nobody understood.
    """

    method: PayoutMethod | None = None
    method_candidates: tuple[PayoutMethod, ...] = ()
    number: str | None = None
    doubtful_number: str | None = None
    number_doubt: Remark | None = None
    amount: Amount | None = None
    amount_readings: tuple[Amount, ...] = ()
    amount_text: str = ""
    holder: str | None = None
    rejections: tuple[Rejection, ...] = ()
    leftover: tuple[str, ...] = ()


def read_line(text: str, methods: Sequence[PayoutMethod]) -> OneLine:
    """What `text` ("500rb bca 1234567890 Budi", in any order) says of an order among the live `methods`.

    Never raises, and never guesses: two numbers are no number, two sums are two readings of the sum.
    """
    words = words_of(text) if len(text) <= LONGEST_LINE else []
    if not words or len(words) > MOST_WORDS:
        return OneLine(leftover=tuple(text[:LONGEST_LINE].split()[:_MOST_SHOWN]))
    sums = find_sums(words)
    free = [not _is_odd(word) and not is_figures(word) for word in words]
    _take(free, sums)
    places = find_destinations(words, free, methods)
    _take(free, places)
    return _put_together(words, free, sums, places)


def _put_together(
    words: Sequence[Word], free: Sequence[bool], sums: Sequence[Sum], places: Sequence[Destination]
) -> OneLine:
    method, candidates = _meant(places)
    figures, unclear = read_runs(words, sums, method)
    number, rest = decide_number(figures, method)
    if number.number is None and not all(place.sure for place in places):
        # Nothing confirms the misspelt name, so it's offered instead of taken.
        method, candidates = None, candidates or tuple(filter(None, (method,)))
        number, rest = decide_number(figures, None)
    loose = loose_currency(words, sums)
    money, unused = decide_money(sums, rest, has_number=number.number is not None, loose=loose)
    torn = {at for each in places if len(places) > 1 and may_be_name(words, each) for at in (each.start - 1, each.stop)}
    name = find_name(words, free, torn)
    return OneLine(
        method=method,
        method_candidates=candidates,
        number=number.number,
        doubtful_number=number.doubtful,
        number_doubt=number.doubt,
        amount=money.amount,
        amount_readings=money.readings,
        amount_text=money.text,
        holder=name.holder,
        rejections=tuple(each.rejection for each in (number, money, name) if each.rejection is not None),
        # Banks' own codes stand before numbers by habit ("bca 014 …"); they add nothing to the name.
        leftover=(
            *unclear,
            *(text for text in unused if not method or text != method.code),
            *(word.text for word in words if _is_odd(word)),
            *name.leftover,
        ),
    )


def _is_odd(word: Word) -> bool:
    """Whether the word is neither figures that we read nor letters: "1/2", "⑤", "&"."""
    return word.odd or not (is_figures(word) or any(each.isalpha() or each == "₿" for each in word.text))


def _take(free: list[bool], parts: Sequence[Sum] | Sequence[Destination]) -> None:
    for part in parts:
        free[part.start : part.stop] = [False] * (part.stop - part.start)


def _meant(places: Sequence[Destination]) -> tuple[PayoutMethod | None, tuple[PayoutMethod, ...]]:
    """The one method that all `places` mean, or those that they may mean."""
    meant = tuple(dict.fromkeys(method for place in places for method in place.methods))
    if len(meant) == 1 and all(place.sure or place.clear for place in places):
        return meant[0], ()
    return None, meant[:MOST_OFFERED]
