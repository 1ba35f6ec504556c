"""What in a line makes its number or its amount a question, and what tears its name apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from bot.checkout.parser.asides import Foreign, is_numbered_name
from bot.checkout.parser.names import Destination, is_led, may_be_name
from bot.checkout.parser.runs import (
    DIGITS,
    INITIALS,
    LEAST_DIGITS,
    ODD_AMOUNT,
    FoundAmount,
    Number,
    as_sent,
    could_be_whole,
    may_be_amount_too,
)
from bot.checkout.parser.vocabulary import (
    ABOUT,
    ACCOUNT_LABELS,
    ASIDE_LABELS,
    BEFORE_ONLY,
    COUNTED,
    EACH,
    EITHER,
    FILLERS,
    GENERIC,
    LEADS_TO_NAME,
    MONTHS,
    NOT_THIS,
    OTHER_AMOUNTS,
    PHONE_LABELS,
)
from bot.core.money import Ambiguous, Amount
from bot.core.money.tokens import AMOUNT_LABELS, SCALES, WHOLE_NUMBER, Token, words_in
from bot.core.money.typed import kind_of
from bot.settlement.model import PayoutMethod

LEADING: Final = FILLERS | GENERIC | PHONE_LABELS
_MOST_LEADING: Final = 4
_CHANGES_AN_AMOUNT: Final = OTHER_AMOUNTS | ABOUT | EACH
"""Words that make the amount of their line a question: a fee, "about", "each"."""

_MOST_SKIPPED: Final = 3
_GROUP: Final = 3
PIECE: Final = 2
"""Letters of a piece of a broken word or unit."""

_SEPARATORS: Final = frozenset(",/|;\n")
_ABOUT_SIGN: Final = re.compile(r"[~\u00b1\u2248\u2243<>\u2264\u2265@%]|\+/?-|-\+")
_LOOKALIKE: Final = re.compile(r"(?:[Rr][Pp]|IDR|idr)?[oOlISB]{1,3}(?:k|rb|rbu|ribu|jt|jta|juta)?")
"""Letters that are typed for digits: "I 800 000", "62900O"."""

_LETTERS_THEN_SCALE: Final = re.compile(r"[lIOoSB]+(?i:rb|rbu|ribu|jt|jta|juta)")
"""An amount with letters in place of all its digits: "ljt", "SOrb"."""


@dataclass(slots=True, kw_only=True)
class Line:
    """What was found in a line so far.

    - `asides`, `counts`: digits that are neither number nor amount. A count makes the amount a question.
    - `strays`: digits and money words that belong to nothing. `unclear`: those of every destination.
    - `known`: numbers of someone else, which make nothing uncertain.
    - `free`: for each token, whether it can be of a name.
    """

    tokens: Sequence[Token]
    asides: set[int]
    unclear: set[int]
    counts: set[int]
    foreign: Foreign
    runs: Sequence[range]
    free: Sequence[bool]
    destinations: Sequence[Destination]
    method: PayoutMethod | None = None
    strays: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)
    numbers: list[Number] = field(default_factory=list)
    amounts: list[FoundAmount] = field(default_factory=list)

    def for_method(self, method: PayoutMethod | None) -> "Line":
        """Return the line before its numbers and amounts are read for this destination."""
        return replace(self, method=method, strays=set(self.unclear), known=set(), numbers=[], amounts=[])

    @property
    def named(self) -> set[int]:
        """The places of words that name a destination."""
        return {place for each in self.destinations for place in range(each.start, each.stop)}

    @property
    def of_amounts(self) -> set[int]:
        """The places of all amounts."""
        return {place for each in self.amounts for place in each.places}

    def get(self, place: int) -> Token | None:
        """Return the token at `place`, or None outside of the line."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def labels(self, place: int) -> tuple[str, ...]:
        """Return the labels right before the token at `place`, and the word before them."""
        found = list[str]()
        while place > 0 and len(found) < _MOST_LEADING:
            is_label = self.tokens[place - 1].folded in ACCOUNT_LABELS | PHONE_LABELS
            if not is_label and not is_led(self.tokens[place]):
                break
            place -= 1
            found.append(self.tokens[place].folded)
            if found[-1] not in LEADING:
                break
        return tuple(found)

    def is_code(self, place: int) -> bool:
        """Return whether this is the bank's own code, which many users write before the number ("bca 014 …")."""
        return self.method is not None and self.tokens[place].text == self.method.code

    def is_torn(self, place: int) -> bool:
        """Return whether a mark without spaces is between digits here, and isn't one that only separates them."""
        token, before = self.get(place), self.get(place - 1)
        if token is None or before is None or not (token.digits and before.digits):
            return False
        if token.joined or not is_close(token):
            return False
        return token.gap not in _SEPARATORS or not {place - 1, place}.isdisjoint(self.asides)

    def begins_name(self, place: int) -> bool:
        """Return whether capital letters at `place` are initials of the name behind them: "I Made Wirawan"."""
        initials = [self.tokens[place]] if re.fullmatch("[A-Z]", self.tokens[place].text) else []
        behind = self.tokens[place + 1 :]
        initials += (
            takewhile(lambda token: token.joined and re.fullmatch("[A-Z]", token.text), behind) if initials else ()
        )
        name, is_bank = self.get(place + len(initials)), place + len(initials) in self.named
        if (
            is_bank
            or not 0 < len(initials) < _GROUP
            or name is None
            or not name.joined
            or _LOOKALIKE.fullmatch(name.text)
            or _letters([*initials, name]) in SCALES  # "R IBU"
        ):
            return False
        return name.text.isalpha() and kind_of(name) == "." and name.folded not in FILLERS | LEADS_TO_NAME


def is_close(token: Token) -> bool:
    """Return whether nothing but a space, or marks without spaces, are before it."""
    return token.joined or not any(map(str.isspace, token.gap))


# The number.


def has_rival(line: Line, number: Number) -> bool:
    """Return whether the line may mean another number than `number`, or more digits than it has.

    It is the number only if all other digits of the line belong to something that is certain, and nothing touches it.
    """
    start, stop = number.places.start, number.places.stop
    sent = as_sent(number.digits, line.method)
    same = {at for each in line.numbers if as_sent(each.digits, line.method) == sent for at in each.places}
    is_cut = line.is_torn(start) or line.is_torn(stop)
    return (
        any(_is_loose(line, number, at) for at in range(len(line.tokens)) if at not in same)
        or is_cut
        or _is_of_else(line, number)
        or _may_hold_amount(line, number)
    )


def _is_loose(line: Line, number: Number, place: int) -> bool:
    """Return whether the token has digits that may be of the number.

    A question about an amount keeps its own digits, unless the number would be as usual with them. A code keeps its
    own, unless the number is a phone's and the code may be an account of a bank that isn't named.
    """
    token = line.tokens[place]
    if place in line.known | line.counts or line.is_code(place) or not _has_digits(token):
        return False
    if place in line.asides:
        is_phone = not PHONE_LABELS.isdisjoint(line.labels(number.places.start))
        return line.method is None and is_phone and len(token.digits) >= LEAST_DIGITS
    found = next((each for each in line.amounts if place in each.places), None)
    if found is None:
        unit = line.get(place + 1)
        return place + 1 in number.places or unit is None or not unit.joined or kind_of(unit) != "u"
    is_one = len({each.value for each in line.amounts}) == 1
    if has_unit(line, found):
        is_behind = place == number.places.stop and _ends_with_initial(line, found.places)  # "78 m ali"
        return (is_behind or place + 1 == number.places.start) and isinstance(found.value, Ambiguous)
    if is_one and isinstance(found.value, Amount):
        start, stop = found.places.start, found.places.stop
        return line.is_torn(start) or line.is_torn(stop) or _is_odd(line, start - 1, start) or _is_odd(line, stop, stop)
    digits = "".join(line.tokens[at].digits for at in found.places)
    joined = (f"{number.digits}{digits}", f"{digits}{number.digits}", digits)
    return not is_one or len(number.places) > 1 or any(could_be_whole(each, line.method) for each in joined)


def _has_digits(token: Token) -> bool:
    """Return whether the token has digits, or is another numeral, such as "²"."""
    return bool(token.digits) or (token.text.isnumeric() and kind_of(token) == ".")


def has_unit(line: Line, found: FoundAmount) -> bool:
    """Return whether an amount is more than digits."""
    return any(kind_of(line.tokens[place]) not in DIGITS for place in found.places)


def _is_of_else(line: Line, number: Number) -> bool:
    """Return whether a word or a code beside the number may own it, or its first or last digits."""
    start, stop = number.places.start, number.places.stop
    labels = line.labels(start)
    first = start - sum(label in LEADING for label in labels)
    before, beside, behind = line.get(first - 1), line.get(start - 1), line.get(stop)
    if any(token is not None and token.folded in EITHER for token in (before, beside, behind)):
        return True
    if any(_is_number_of_else(line, at) for at in (first - 1, stop)):
        return True
    if beside is not None and line.tokens[start].gap == "" and line.free[start - 1] and beside.folded not in LEADING:
        return True
    earlier = line.get(first - 2)
    is_code = any(token is not None and token.folded in ASIDE_LABELS for token in (before, earlier))
    if is_code and ACCOUNT_LABELS.isdisjoint(labels) and not (before and before.digits):
        return True
    is_like = beside is not None and _LOOKALIKE.fullmatch(beside.text) is not None
    is_name = behind is not None and behind.gap != "" and line.begins_name(stop)
    return is_like or (behind is not None and _LOOKALIKE.fullmatch(behind.text) is not None and not is_name)


def _is_number_of_else(line: Line, place: int) -> bool:
    """Return whether these are digits of a time, a code or a count."""
    token = line.get(place)
    is_else = token is not None and token.digits != "" and place in line.asides | line.counts
    return is_else and not is_numbered_name(line.tokens, place)


def _may_hold_amount(line: Line, number: Number) -> bool:
    """Return whether a piece of it may be the amount, because the line has no other."""
    tokens = line.tokens[number.places.start : number.places.stop]
    return len(tokens) > 1 and not line.amounts and any(map(may_be_amount_too, tokens))


# The amount.


def is_amount_doubtful(line: Line, *, is_number_doubtful: bool) -> bool:
    """Return whether something in the line may change the amount, or say how often it is meant.

    It is sure only if no word or sign changes an amount, no digits are left over, and what touches it can't be a piece
    of it.
    """
    strays = [line.tokens[place] for place in line.strays]
    if any(len(token.digits) < WHOLE_NUMBER or ODD_AMOUNT.fullmatch(token.text) for token in strays):
        return True
    of_amounts = line.of_amounts
    outside = {token.folded for place, token in enumerate(line.tokens) if place not in of_amounts}
    if line.counts or line.foreign.places or outside & _CHANGES_AN_AMOUNT:
        return True
    if any(_LETTERS_THEN_SCALE.fullmatch(token.text) for token in line.tokens):
        return True
    places = [each.places for each in line.amounts]
    return any(
        _is_begun_before(line, each) or _goes_on_behind(line, each) or (is_number_doubtful and _is_cut(line, each))
        for each in places
    )


def _is_cut(line: Line, places: range) -> bool:
    """Return whether other digits follow its own, or only marks without spaces are around it."""
    joints = [token for at in (places.start, places.stop) if (token := line.get(at)) is not None]
    behind = line.get(places.stop)
    goes_on = behind is not None and bool(behind.digits and line.tokens[places.stop - 1].digits)
    return goes_on or any(is_close(token) and not token.joined for token in joints)


def _is_begun_before(line: Line, places: range) -> bool:
    """Return whether the words before may hold its first digits, own them, or say that it isn't meant."""
    start = places.start
    first, before = line.tokens[start], line.get(start - 1)
    if _ABOUT_SIGN.search(first.gap):
        return True
    if before is None or start - 1 in line.of_amounts:
        return line.is_torn(start)
    words = takewhile(lambda token: not token.digits, reversed(line.tokens[max(start - _MOST_SKIPPED, 0) : start]))
    if not NOT_THIS.isdisjoint(token.folded for token in words):
        return True
    is_label = before.folded in LEADING | AMOUNT_LABELS
    is_spaced = len(places) > len("12") and all(line.tokens[at].digits for at in places)
    is_of_else = before.folded in ASIDE_LABELS | ACCOUNT_LABELS | PHONE_LABELS
    is_of_else = is_of_else or (is_spaced and line.free[start - 1] and not is_label)
    if kind_of(first) in DIGITS and is_close(first) and (is_of_else or (first.gap == "" and not is_label)):
        return True
    is_open = kind_of(first) in DIGITS + "w" and start - 1 not in line.named and is_close(first)
    is_piece = is_open and (_is_odd(line, start - 1, start) or _is_piece(line.tokens[max(start - 2, 0) : start], -1))
    return line.is_torn(start) or is_piece


def _goes_on_behind(line: Line, places: range) -> bool:
    """Return whether what is behind may hold its last digits or its unit, or say how many of them are meant."""
    last, behind, after = line.tokens[places.stop - 1], line.get(places.stop), line.get(places.stop + 1)
    if _ABOUT_SIGN.search(last.tail if behind is None else behind.gap):
        return True
    if behind is None or places.stop in line.of_amounts:
        return last.tail == "-"
    # "500 rb an" is about half a million, but "an Budi" leads to a name.
    is_ending = behind.folded == "an" and behind.joined and (after is None or not after.joined)
    if is_ending or behind.folded in COUNTED or behind.gap == "-" or (last.folded in INITIALS and last.gap != ""):
        return True
    is_open = kind_of(last) in DIGITS + "wh"
    if behind.gap == "" and (behind.digits or (is_open and kind_of(behind) == ".")):  # "1jt8:00"
        return True
    words = line.tokens[places.stop : places.stop + 3]
    of_numbers = {place for each in line.numbers if each.is_sure for place in each.places}
    is_loose = behind.joined and 0 < len(behind.digits) < WHOLE_NUMBER and places.stop not in of_numbers
    is_of_currency = is_loose and kind_of(last) in "sb"  # "5 sats 37721"
    is_time = behind.digits != "" and places.stop in line.asides and (is_open or ":" in behind.text)  # "19 juta 8:00"
    is_open = is_open and places.stop not in line.named and not line.begins_name(places.stop)
    is_piece = (
        is_of_currency or is_time or (is_open and (_is_odd(line, places.stop, places.stop) or _is_piece(words, 0)))
    )
    return line.is_torn(places.stop) or is_piece


def _touches(line: Line, place: int) -> bool:
    """Return whether the word before the digits is written together with them, or is like a digit ("o,663jt")."""
    before, token = line.get(place - 1), line.tokens[place]
    is_like = before is not None and _LOOKALIKE.fullmatch(before.text) is not None
    return token.gap == "" or (is_like and is_close(token))


def _is_odd(line: Line, place: int, joint: int) -> bool:
    """Return whether digits of neither number nor amount are right beside an amount. `joint`: the second of the two."""
    beside = line.get(place)
    is_odd = beside is not None and place in line.strays | line.asides | line.counts
    return is_odd and 0 < len(line.tokens[place].digits) < WHOLE_NUMBER and line.tokens[joint].joined


def _is_piece(words: Sequence[Token], nearest: int) -> bool:
    """Return whether the nearest of the words has letters for digits, or some are number words or a unit together."""
    if len(words[nearest].text) == 1 or _LOOKALIKE.fullmatch(words[nearest].text):
        return True
    beside = list(takewhile(lambda token: not token.digits, words if nearest == 0 else reversed(words)))
    joined = [beside[:count][:: -1 if nearest else 1] for count in range(1, len(beside) + 1)]
    return any(words_in(_letters(each)) for each in joined)


def _letters(tokens: Sequence[Token]) -> str:
    """Return the letters of `tokens`, as if they were written together: "ribu" for "r ibu"."""
    return "".join(letter for token in tokens for letter in token.folded if letter.isalpha())


def _ends_with_initial(line: Line, places: range) -> bool:
    """Return whether its last word is a single letter, which may begin the next name: "5 m ali"."""
    last = line.tokens[places.stop - 1]
    return last.folded in INITIALS and last.gap != ""


# The name.


def find_torn(line: Line) -> set[int]:
    """Return the places next to a word that may be the rest of a name.

    Such a word is another bank, a month, the letter at the end of an amount, a broken unit, or digits of nothing.
    """
    doubtful = [
        each
        for each in line.destinations
        if (line.method is None and not each.is_certain)
        or (len(line.destinations) > 1 and may_be_name(line.tokens, each))
    ]
    odd = line.strays | line.counts | {place for each in line.amounts if each.is_bare for place in each.places}
    torn = {at for each in doubtful for at in (each.start - 1, each.stop)} | {at + 1 for at in odd}
    before = {at - 1 for at in odd if is_close(line.tokens[at])}
    pieces = {at for at in before if at > 0 and len(line.tokens[at].text) <= PIECE and is_close(line.tokens[at])}
    torn |= before | {at - 1 for at in pieces}  # "delap an ratus"
    torn |= {at + 1 for at in line.foreign.places if (unit := line.get(at + 1)) and unit.folded in INITIALS}
    torn |= {at - 1 for at, token in enumerate(line.tokens) if token.digits and _touches(line, at)}
    torn |= {at + 1 for at, token in enumerate(line.tokens) if token.folded == "of"}  # "of a k"
    torn |= {at + 1 for at in line.asides if line.tokens[at].folded in MONTHS}
    years = {at for at, token in enumerate(line.tokens) if re.fullmatch(r"(?:19|20)\d?\d?", token.digits)}
    torn |= {at - 1 for at in years if at and line.tokens[at - 1].folded in MONTHS}  # "mei |2026", "mei 202'6"
    glued = {at for at, token in enumerate(line.tokens) if at and token.gap == "" and line.tokens[at - 1].digits}
    torn |= {at + 1 for at in glued if kind_of(line.tokens[at]) == "."}  # "46300R B"
    for each in line.amounts:
        start, stop = each.places.start, each.places.stop
        follower = line.get(stop)
        is_counted = follower is not None and follower.folded in COUNTED
        is_article = (
            follower is not None
            and follower.folded in {"a", "se"}
            and ((after := line.get(stop + 1)) is not None and after.folded in INITIALS)
        )
        if is_article and kind_of(line.tokens[stop - 1]) not in "um":
            torn.add(stop)  # "nine stgh a k"
        if is_counted or _ends_with_initial(line, each.places) or _goes_on_behind(line, each.places):
            torn |= {stop, stop + 1}
        if _letters(line.tokens[max(start - 2, 0) : start]) in BEFORE_ONLY:
            torn |= {start - 1, start - 2}
    return torn | line.foreign.torn
