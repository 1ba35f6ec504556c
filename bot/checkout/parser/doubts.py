"""What in a line makes its number or its sum a question, and what tears its name apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from bot.checkout.parser.asides import is_numbered_name
from bot.checkout.parser.foreign import Foreign
from bot.checkout.parser.names import Destination, is_led, may_be_name
from bot.checkout.parser.numbers import (
    LEAST_DIGITS,
    as_sent,
    could_be_whole,
    may_be_sum_too,
)
from bot.checkout.parser.runs import DIGITS, INITIALS, ODD_SUM, Number, Sum
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
    PHONE_LABELS,
    ROUGHLY,
    SUM_OF_ELSE,
)
from bot.core.money import Ambiguous, Amount
from bot.core.money.tokens import WHOLE_NUMBER, Token
from bot.core.money.typed import kind_of
from bot.core.money.vocabulary import AMOUNT_LABELS, CURRENCIES, SCALES, words_in
from bot.settlement.model import PayoutMethod

LEADING: Final = FILLERS | GENERIC | PHONE_LABELS
_MOST_LEADING: Final = 4
_BEFORE_SUM: Final = SUM_OF_ELSE | ABOUT | EACH | NOT_THIS
_BEHIND_SUM: Final = SUM_OF_ELSE | ABOUT | EACH | COUNTED
"""Words that make the sum next to them a question: a fee, "about", "each", "not"."""

_MOST_SKIPPED: Final = 3
_GROUP: Final = 3
_SEPARATORS: Final = frozenset(",/|;\n")
_ABOUT_SIGN: Final = re.compile(r"[~\u00b1\u2248\u2243<>\u2264\u2265@%]|\+/?-|-\+")
_LOOKALIKE: Final = re.compile(r"(?:[Rr][Pp]|IDR|idr)?[oOlISB]{1,3}(?:k|rb|rbu|ribu|jt|jta|juta)?")
"""Letters that are typed for digits: "I 800 000", "62900O"."""

_LETTERS_THEN_SCALE: Final = re.compile(r"[lIOoSB]+(?i:rb|rbu|ribu|jt|jta|juta)")
"""A sum with letters in place of all its digits: "ljt", "SOrb"."""


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was found in a line so far.

    - `asides`, `counts`: digits that are neither number nor sum. A count makes the sum a question.
    - `strays`: digits and money words that belong to nothing.
    - `known`: numbers of someone else, which make nothing uncertain.
    - `free`: for each token, whether it can be of a name.
    """

    tokens: Sequence[Token]
    asides: set[int]
    counts: set[int]
    foreign: Foreign
    method: PayoutMethod | None
    free: Sequence[bool]
    strays: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)
    numbers: list[Number] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)

    @property
    def sure_sums(self) -> set[int]:
        """The places of sums that are no question."""
        return {place for each in self.sums if isinstance(each.value, Amount) for place in each.places}

    @property
    def of_sums(self) -> set[int]:
        """The places of all sums."""
        return {place for each in self.sums for place in each.places}

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
        name = self.get(place + len(initials))
        if not 0 < len(initials) < _GROUP or name is None or not name.joined or _LOOKALIKE.fullmatch(name.text):
            return False
        return name.text.isalpha() and kind_of(name) == "." and name.folded not in FILLERS | LEADS_TO_NAME


def is_close(token: Token) -> bool:
    """Return whether nothing but a space, or marks without spaces, are before it."""
    return token.joined or not any(map(str.isspace, token.gap))


# The number.


def has_rival(line: Findings, number: Number) -> bool:
    """Return whether the line may mean another number than `number`, or more digits than it has.

    It is the number only if all other digits of the line belong to something that is certain, and nothing touches it.
    """
    start, stop = number.places.start, number.places.stop
    others = [at for at in range(len(line.tokens)) if at not in number.places and _is_loose(line, number, at)]
    is_cut = line.is_torn(start) or line.is_torn(stop)
    return bool(others) or is_cut or _is_of_else(line, number) or _may_hold_sum(line, number)


def _is_loose(line: Findings, number: Number, place: int) -> bool:
    """Return whether the token has digits that may be of the number.

    A question about a sum keeps its own digits, unless the number would be as usual with them. A code keeps its own,
    unless the number is a phone's and the code may be an account of a bank that isn't named.
    """
    token = line.tokens[place]
    sent = as_sent(number.digits, line.method)
    twins = {at for each in line.numbers if as_sent(each.digits, line.method) == sent for at in each.places}
    if place in line.known | line.counts | twins or line.is_code(place) or not _has_digits(token):
        return False
    if place in line.asides:
        is_phone = not PHONE_LABELS.isdisjoint(line.labels(number.places.start))
        return line.method is None and is_phone and len(token.digits) >= LEAST_DIGITS
    found = next((each for each in line.sums if place in each.places), None)
    if found is None:
        unit = line.get(place + 1)
        return place + 1 in number.places or unit is None or not unit.joined or kind_of(unit) != "u"
    is_one = len({each.value for each in line.sums}) == 1
    if has_unit(line, found):
        is_behind = place == number.places.stop and _ends_with_initial(line, found.places)  # "78 m ali"
        return (is_behind or place + 1 == number.places.start) and isinstance(found.value, Ambiguous)
    if is_one and isinstance(found.value, Amount):
        return _is_part(line, found.places)
    digits = "".join(line.tokens[at].digits for at in found.places)
    joined = (f"{number.digits}{digits}", f"{digits}{number.digits}", digits)
    return not is_one or len(number.places) > 1 or any(could_be_whole(each, line.method) for each in joined)


def _has_digits(token: Token) -> bool:
    """Return whether the token has digits, or is another numeral, such as "²"."""
    return bool(token.digits) or (token.text.isnumeric() and kind_of(token) == ".")


def has_unit(line: Findings, found: Sum) -> bool:
    """Return whether a sum is more than digits."""
    return any(kind_of(line.tokens[place]) not in DIGITS for place in found.places)


def _is_of_else(line: Findings, number: Number) -> bool:
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


def _is_number_of_else(line: Findings, place: int) -> bool:
    """Return whether these are digits of a time, a code or a count."""
    token = line.get(place)
    is_else = token is not None and token.digits != "" and place in line.asides | line.counts
    return is_else and not is_numbered_name(line.tokens, place)


def _may_hold_sum(line: Findings, number: Number) -> bool:
    """Return whether a piece of it may be the sum, because the line has no other."""
    tokens = line.tokens[number.places.start : number.places.stop]
    return len(tokens) > 1 and not line.sums and any(map(may_be_sum_too, tokens))


# The sum.


def is_sum_doubtful(line: Findings, unknown: set[int], *, is_number_doubtful: bool) -> bool:
    """Return whether something in the line may change the sum, or say how often it is meant.

    `unknown`: the places of words that are nothing else.
    """
    if line.counts or line.foreign.places:
        return True
    strays = [line.tokens[place] for place in line.strays]
    if any(len(token.digits) < WHOLE_NUMBER or ODD_SUM.fullmatch(token.text) for token in strays):
        return True
    within = {place for each in line.sums for place in each.places}
    outside = {token.folded for place, token in enumerate(line.tokens) if place not in within}
    if outside & (EACH | ROUGHLY) or any(_LETTERS_THEN_SCALE.fullmatch(token.text) for token in line.tokens):
        return True
    ends = {each.places.stop for each in line.sums if line.tokens[each.places.stop - 1].digits}
    if any(len(line.tokens[place].text) == 1 for place in ends & unknown):
        return True
    if is_number_doubtful and any(_is_cut_from_number(line, each) for each in line.sums):
        return True
    return any(rule(line, each.places) for each in line.sums for rule in _QUALIFIERS)


def _is_cut_from_number(line: Findings, found: Sum) -> bool:
    """Return whether its last digits are followed by others, or only marks without spaces are between them."""
    start, stop = found.places.start, found.places.stop
    joints = [token for at in (start, stop) if (token := line.get(at)) is not None]
    behind = line.get(stop)
    goes_on = behind is not None and bool(behind.digits and line.tokens[stop - 1].digits)
    return goes_on or any(is_close(token) and not token.joined for token in joints)


def _has_sign(line: Findings, places: range) -> bool:
    """Return whether a sign says "about", a limit, a share or an ending: "~500rb", "500rb-an"."""
    follower = line.get(places.stop)
    behind = line.tokens[places.stop - 1].tail if follower is None else follower.gap
    return bool(_ABOUT_SIGN.search(line.tokens[places.start].gap) or _ABOUT_SIGN.search(behind)) or behind == "-"


def _is_part(line: Findings, places: range) -> bool:
    """Return whether more digits are right beside it, which belong to something else."""
    start, stop = places.start, places.stop
    before, follower = line.get(start - 1), line.get(stop)
    odd = line.strays | line.asides | line.counts
    if line.is_torn(start) or line.is_torn(stop):
        return True
    if before is not None and start - 1 in odd and 0 < len(before.digits) < WHOLE_NUMBER:
        return line.tokens[start].digits != "" and line.tokens[start].joined
    is_joined = follower is not None and follower.digits != "" and follower.joined
    return is_joined and stop in odd and line.tokens[stop - 1].digits != ""


def _is_begun_before(line: Findings, places: range) -> bool:
    """Return whether the word before a sum may have its first digits, or owns them: "I 800 000", "km 5,26 jt"."""
    start = places.start
    before, first = line.get(start - 1), line.tokens[start]
    if before is None:
        return False
    if first.digits and is_close(first) and _LOOKALIKE.fullmatch(before.text):
        return True
    words = (
        words_in(_letters(line.tokens[max(start - 2, 0) : start]))
        if start > 1 and start - 1 not in line.of_sums
        else None
    )
    if words and len(before.text) < len("".join(words)) and min(map(len, words)) > 1:
        return True  # "seratu s enam puluh ribu"
    is_label = before.folded in LEADING | AMOUNT_LABELS or kind_of(before) != "."
    is_labelled = kind_of(first) in DIGITS and before.folded in ACCOUNT_LABELS | PHONE_LABELS
    is_code = first.gap == "" and first.digits != "" and not is_label
    return is_code or is_labelled or (before.folded in ASIDE_LABELS and "," in first.text)


def _is_behind_name(line: Findings, places: range) -> bool:
    """Return whether a spaced sum is right behind an unknown word, which may own its first digits."""
    start = places.start
    is_spaced = len(places) > len("12") and all(line.tokens[at].digits for at in places)
    is_unknown = start > 0 and line.free[start - 1] and line.tokens[start - 1].folded not in LEADING
    return is_spaced and is_unknown and line.tokens[start].joined


def _is_led_to_else(line: Findings, places: range) -> bool:
    """Return whether a word before it, or before its labels, says that it is a fee, approximate, or not meant."""
    before = places.start - 1
    if before in line.of_sums:
        return False
    while places.start - before <= _MOST_SKIPPED and before >= 0:
        if line.tokens[before].folded not in FILLERS | BEFORE_ONLY:
            break
        before -= 1
    return before >= 0 and line.tokens[before].folded in _BEFORE_SUM


def _is_followed_by_else(line: Findings, places: range) -> bool:
    """Return whether a word behind says that it is a fee, approximate, or meant several times."""
    follower, after = line.get(places.stop), line.get(places.stop + 1)
    if follower is None or places.stop in line.of_sums:
        return False
    # "500 rb an" is about half a million, but "an Budi" leads to a name.
    is_ending = follower.folded == "an" and follower.joined and (after is None or not after.joined)
    behind = _BEHIND_SUM if follower.joined else COUNTED | ABOUT  # "50rb/orang", "50.000,- lebih"
    is_initial = _ends_with_initial(line, places) and follower.joined and follower.folded not in FILLERS
    return is_ending or is_initial or follower.folded in behind


def _ends_with_initial(line: Findings, places: range) -> bool:
    """Return whether its last word is a single letter, which may begin the next name: "5 m ali"."""
    last = line.tokens[places.stop - 1]
    return last.folded in INITIALS and last.gap != ""


def _is_broken(line: Findings, places: range) -> bool:
    """Return whether the words behind bare digits may be a broken unit, or more digits: "801000 sa-ts", "500 O00"."""
    tokens = line.tokens[places.stop : places.stop + 3]
    if not tokens or kind_of(line.tokens[places.stop - 1]) not in DIGITS + "wh":
        return False
    first = tokens[0]
    if first.folded in INITIALS:
        after = tokens[1] if len(tokens) > 1 and tokens[1].joined else None
        is_unit = not first.joined and first.text.islower()  # "36000;k"
        is_name = after is not None and after.text.isalpha() and after.folded not in FILLERS | GENERIC | LEADS_TO_NAME
        return is_unit or not is_name
    if first.gap == "" and kind_of(first) == ".":
        return True
    words = list(takewhile(lambda token: not token.digits, tokens))
    joined = [_letters(words[:count]) for count in range(1, len(words) + 1)]
    if any(each in SCALES or each in CURRENCIES for each in joined):
        return True
    is_like_digits = is_close(first) and _LOOKALIKE.fullmatch(first.text) is not None
    return is_like_digits and (first.gap == "" or not line.begins_name(places.stop))


def _letters(tokens: Sequence[Token]) -> str:
    """Return the letters of `tokens`, as if they were written together: "ribu" for "r ibu"."""
    return "".join(letter for token in tokens for letter in token.folded if letter.isalpha())


_QUALIFIERS: Final = (
    _has_sign,
    _is_part,
    _is_begun_before,
    _is_behind_name,
    _is_led_to_else,
    _is_followed_by_else,
    _is_broken,
)


# The name.


def find_torn(line: Findings, places: Sequence[Destination]) -> set[int]:
    """Return the places next to a word that may be the rest of a name.

    Such a word is another bank, a month, the letter at the end of a sum, a broken unit, or digits of nothing.
    """
    doubtful = [
        each
        for each in places
        if (line.method is None and not each.is_certain) or (len(places) > 1 and may_be_name(line.tokens, each))
    ]
    odd = line.strays | line.counts | {place for each in line.sums if each.is_bare for place in each.places}
    torn = {at for each in doubtful for at in (each.start - 1, each.stop)} | {at + 1 for at in odd}
    torn |= {at - 1 for at in odd if is_close(line.tokens[at])}
    torn |= {at - 1 for at, token in enumerate(line.tokens) if token.digits and token.gap == ""}
    torn |= {at + 1 for at, token in enumerate(line.tokens) if token.folded == "of"}  # "of a k"
    torn |= {at + 1 for at in line.asides if line.tokens[at].folded in MONTHS}
    glued = {at for at, token in enumerate(line.tokens) if at and token.gap == "" and line.tokens[at - 1].digits}
    torn |= {at + 1 for at in glued if kind_of(line.tokens[at]) == "."}  # "46300R B"
    for each in line.sums:
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
        if is_counted or _ends_with_initial(line, each.places) or _is_broken(line, each.places):
            torn |= {stop, stop + 1}
        if _letters(line.tokens[max(start - 2, 0) : start]) in BEFORE_ONLY:
            torn |= {start - 1, start - 2}
    return torn | line.foreign.torn
