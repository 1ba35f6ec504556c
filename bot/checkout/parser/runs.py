"""The digits of a line: which can be an account or mobile number, and how a run of them is one number and amounts."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.parser.vocabulary import ACCOUNT_LABELS
from bot.core.errors import Rejection
from bot.core.money.tokens import AMOUNT_LABELS, WHOLE_NUMBER, Token
from bot.core.money.typed import Ambiguous, Reading, ambiguous, kind_of, list_amounts, read_phrase
from bot.recipients.banks import find_known
from bot.recipients.numbers import MIN_ACCOUNT_DIGITS, TYPICAL_ACCOUNT_DIGITS, LikeMobile, clean_number
from bot.settlement.model import BANK, PayoutMethod

LEAST_DIGITS: Final = 8
"""Digits of an account or mobile number in pieces."""

_MOBILE: Final = re.compile(r"(?:\+?62|0)?8\d{8,11}")
_COUNTRY: Final = frozenset({"+62", "62", "0062"})
_PIECE: Final = re.compile(r"(?!\d{4,}\.\d{3}$|[1-9]\d{1,8}00-[1-9]\d{1,8}00$)(?:\+?\d+(?:\.\d+)*|\+?\d+(?:-\d+)*)")
"""A number, or a piece of one, by its marks: not "150000.000", and no range of amounts."""


def is_number(pieces: Sequence[Token]) -> bool:
    """Return whether the tokens can be a number with spaces in it. A complete number needs no more digits."""
    if not all(_PIECE.fullmatch(token.text) and kind_of(token) not in "gof" for token in pieces):
        return False
    rest = pieces[1:] if pieces[0].text in _COUNTRY else pieces
    is_whole = len(rest) == 1 or all(len(token.digits) < WHOLE_NUMBER for token in rest)
    return is_whole and all(token.joined and not token.text.startswith("+") for token in pieces[1:])


def is_weak_number(pieces: Sequence[Token]) -> bool:
    """Return whether the digits can be a number of an unusual length. One in pieces begins as a phone's."""
    if (len(pieces) > 1 and pieces[0].text[0] not in "0+") or not is_number(pieces) or is_round(pieces[0]):
        return False
    return sum(len(token.digits) for token in pieces) >= MIN_ACCOUNT_DIGITS


def written_digits(pieces: Sequence[Token]) -> str:
    """Return the digits of a number in pieces, with a leading plus sign if there is one."""
    return ("+" if pieces[0].text.startswith("+") else "") + "".join(token.digits for token in pieces)


def could_be_whole(number: str, method: PayoutMethod | None) -> bool:
    """Return whether `number` needs no more digits: it is usual for the destination, or anywhere if none is known."""
    if method is not None:
        return is_usual(method, number)
    return len(number.lstrip("+")) in TYPICAL_ACCOUNT_DIGITS or _MOBILE.fullmatch(number) is not None


def takes_any_number(method: PayoutMethod | None) -> bool:
    """Return whether the numbers can have any length, as a bank's can, or those of no known destination."""
    known = None if method is None else find_known(method.code, method.name)
    return method is None or (method.kind == BANK and (known is None or known.digits is None))


def is_usual(method: PayoutMethod, number: str) -> bool:
    """Return whether `method` has numbers of this form."""
    try:
        remark = clean_number(method, number).remark
    except Rejection:
        return False
    # The user is asked about a number that may be a phone's. It makes no other reading of the line likelier.
    return remark is None or isinstance(remark, LikeMobile)


def as_sent(number: str, method: PayoutMethod | None) -> str:
    """Return the form that goes to the service. Return it as typed if no method is known, or the method rejects it."""
    if method is None:
        return re.sub(r"^(?:\+|00)?62(?=8)|^(?=8\d{8,11}$)", "0", number)
    try:
        return clean_number(method, number).number
    except Rejection:
        return number


def is_whole(token: Token, method: PayoutMethod | None) -> bool:
    """Return whether the token alone is a complete and usual number."""
    return len(token.digits) >= WHOLE_NUMBER and is_number([token]) and could_be_whole(written_digits([token]), method)


def may_be_amount_too(token: Token) -> bool:
    """Return whether a piece of a number may be the amount, if the line has none: "1000999 008"."""
    return MIN_ACCOUNT_DIGITS <= len(token.text) < WHOLE_NUMBER and token.text.isdecimal() and token.text[0] != "0"


def is_round(token: Token) -> bool:
    """Return whether these are plain digits of whole thousands."""
    return token.text.isdecimal() and token.text.endswith("000") and token.text[0] != "0"


LONGEST_RUN: Final = 16
"""Maximum of tokens in one run. A longer one is no part of an order."""

INITIALS: Final = frozenset({"k", "m"})
"""Units of one letter, which can also be initials of a name."""

DIGITS: Final = "nijlgofqz"
"""Kinds of tokens with digits alone."""

_UNITS: Final = frozenset("umexrsb")
_COUNTS: Final = "nilogfqjwht"
_MONEY: Final = frozenset("nilogfqjzwtheuxyrsb")
"""Kinds of tokens that an amount has. Units of one letter, articles and "and" need a number before them."""

ODD_AMOUNT: Final = re.compile(r"\d{4,9}[.,]\d{3}|\d{1,3}(?:([.,])\d{3})+(?!\1)[.,]\d{3}")
"""An amount with a fraction of three digits, which no number has: "1500000.000", "1.500,000"."""


def find_runs(tokens: Sequence[Token], asides: Collection[int]) -> Iterator[range]:
    """Yield the places of neighbouring tokens of digits and money words. Marks between them end a run."""
    start = 0
    while start < len(tokens):
        stop = start
        while stop < len(tokens) and stop not in asides and (stop == start or tokens[stop].joined):
            if not _is_money(tokens, stop, is_first=stop == start):
                break
            stop += 1
        while stop > start and kind_of(tokens[stop - 1]) in "+a":
            stop -= 1
        if stop > start:
            yield range(start, stop)
        start = max(stop, start + 1)


def _is_money(tokens: Sequence[Token], place: int, *, is_first: bool) -> bool:
    """Return whether the token can be part of an amount or a number."""
    token, kind = tokens[place], kind_of(tokens[place])
    before = "" if is_first else kind_of(tokens[place - 1])
    is_counted = bool(before) and before in _COUNTS and len(tokens[place - 1].digits) < WHOLE_NUMBER
    if token.folded in INITIALS:
        # A capital is an initial behind digits ("500 K Anwar"), but not behind a part.
        return is_counted and (token.gap == "" or token.text.islower() or before in "ht")
    if kind in "+akm":
        return bool(before) and before != "r" and (kind != "m" or is_counted)
    return kind in _MONEY


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """A part of a run that is an amount. `is_bare`: a small number without a unit, which can also count something."""

    places: range
    value: Reading
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A part of a run that can be the number. `is_sure`: its length is usual."""

    places: range
    digits: str
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class Division:
    """A run without a token left over: at most one number, and amounts beside it."""

    number: Number | None
    amounts: tuple[FoundAmount, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring tokens of digits and money words, and the words before them."""

    tokens: Sequence[Token]
    places: range
    method: PayoutMethod | None
    labels: tuple[str, ...]

    @property
    def has_number(self) -> bool:
        """Whether a part of the run is a usual number, perhaps one of several."""
        return bool(self._numbers(self.places.start, self.places.stop, with_amounts=True))

    def divide(self) -> list[Division]:
        """Return all ways to read the whole run."""
        start, stop = self.places.start, self.places.stop
        if len(self.places) > LONGEST_RUN:
            return []
        if len(self.places) > 1 and self.method is not None and self.tokens[start].text == self.method.code:
            start += 1
        whole, numbers = self._amount(start, stop), self._numbers(start, stop)
        found = [Division(None, (whole,))] if whole else []
        for number in numbers:
            beside = [(start, number.places.start), (number.places.stop, stop)]
            amounts = [self._amount(*each) for each in beside if each[0] < each[1]]
            if all(each and not self._may_end_in_number(each) for each in amounts):
                found.append(Division(number, tuple(each for each in amounts if each)))
        # With the bank's code, too: the number may begin with these digits.
        longer = self._numbers(self.places.start, stop, with_amounts=True)
        may_be = {as_sent(each.digits, self.method) for each in longer}
        labelled = [each for each in found if each.number] if ACCOUNT_LABELS & set(self.labels) else []
        found = labelled or found
        if not found and not may_be:
            found = [Division(each, amounts) for each, amounts in self._with_weak_number(start, stop)]
        if len(found) > 1:
            found = [each for each in found if not any(one.is_bare for one in each.amounts)] or found
        return found if len(may_be) <= 1 or all(each.number is None for each in found) else []

    def _may_end_in_number(self, found: FoundAmount) -> bool:
        """Return whether the last group of an amount with blanks can be a piece of the number: "150 000 616 787…"."""
        digits = [token.text for token in self.tokens[found.places.start : found.places.stop] if token.digits]
        return len(digits) > len(("150", "000")) and digits[-1] != "000"

    def _with_weak_number(self, start: int, stop: int) -> Iterator[tuple[Number, tuple[FoundAmount, ...]]]:
        """Yield a number of an unusual length at one end of the run, with the amount at the other end."""
        for cut in range(start + 1, stop):
            for places, rest in ((range(start, cut), range(cut, stop)), (range(cut, stop), range(start, cut))):
                is_of_amount = places.stop < stop and self._is_unit(places.stop)
                is_of_amount = is_of_amount or (places.start > start and self._is_of_before(places.start))
                if not is_of_amount and is_weak_number(self.tokens[places.start : places.stop]):
                    found = self._amount(rest.start, rest.stop)
                    if found is not None and not found.is_bare:
                        digits = written_digits(self.tokens[places.start : places.stop])
                        yield Number(places, digits, is_sure=False), (found,)

    def _amount(self, start: int, stop: int) -> FoundAmount | None:
        """Return these tokens as an amount. Bare digits are sure only if they are grouped, round, or introduced."""
        phrase = self.tokens[start:stop]
        kinds = "".join(map(kind_of, phrase))
        has_number = "s" in kinds and any(len(token.digits) >= WHOLE_NUMBER for token in phrase)
        value = None if has_number else read_phrase(phrase)  # "sats 7532931609"
        if value is None or kinds.strip(DIGITS):
            return (
                FoundAmount(range(start, stop), value, is_bare=not set(kinds) & _UNITS) if value is not None else None
            )
        digits = sum(len(token.digits) for token in phrase)
        if digits >= WHOLE_NUMBER and not ODD_AMOUNT.fullmatch(phrase[0].text):
            return None
        is_introduced = start == self.places.start and bool(AMOUNT_LABELS & set(self.labels[:1]))
        is_round = kinds == "g" or phrase[-1].text.endswith("000")
        if kinds == "l" and not is_round and not is_introduced:
            return None
        if not (is_round or is_introduced):
            value = ambiguous(list_amounts(value)) or value
        return FoundAmount(range(start, stop), value, is_bare=isinstance(value, Ambiguous) and kinds not in {"o", "q"})

    def _numbers(self, start: int, stop: int, *, with_amounts: bool = False) -> list[Number]:
        """Return the parts of the run that are usual numbers, `with_amounts` those with a round amount, too."""
        is_amount = start == self.places.start and not AMOUNT_LABELS.isdisjoint(self.labels[:1])
        found = []
        for first in range(start + int(is_amount), stop):
            if first > start and self._is_of_before(first):
                continue
            for last in range(first + 1, stop + 1):
                pieces = self.tokens[first:last]
                if not is_number(pieces):
                    break
                digits = written_digits(pieces)
                has_amount = len(pieces) > 1 and any(
                    len(each.text) >= MIN_ACCOUNT_DIGITS and is_round(each) for each in pieces
                )
                is_whole = not (last < stop and self._is_unit(last)) and (with_amounts or not has_amount)
                if is_whole and could_be_whole(digits, self.method):
                    found.append(Number(range(first, last), digits))
        return found

    def _is_of_before(self, place: int) -> bool:
        """Return whether the digits at `place` belong to the token before: their "Rp", or a unit ("65k05")."""
        is_first = place - 1 == self.places.start and kind_of(self.tokens[place - 1]) == "r"
        return is_first or self.tokens[place].gap == ""

    def _is_unit(self, place: int) -> bool:
        """Return whether the token at `place` can only belong to the digits before it."""
        return self.tokens[place].gap == "" or kind_of(self.tokens[place]) in "um"
