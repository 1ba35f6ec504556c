"""The account number of a line: one of its groups of digits without a unit, or a question.

Neighbouring digits may be one number with spaces in it, or a number and a sum without its unit. Every way to divide
them is scored by how unusual its parts are. If the two likeliest ways differ, no number is used: half a number, or a
number with a sum attached, would send money to a stranger.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Final

from bot.checkout.parser.digit_groups import (
    CERTAIN_NUMBER_DIGITS,
    LONGEST_SUM,
    SHORTEST_NUMBER,
    UNITS,
    DigitGroup,
    digits_of,
    is_country,
    is_digits,
    is_piece,
    is_short_sum,
    is_spaced_sum,
    is_spaced_thousands,
    is_sum,
    starts_as_number,
)
from bot.checkout.parser.sums import Sum, begins_part, is_amount_unclear, join_typed, read_sum
from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    AMOUNT_LABELS,
    ASIDE_LABELS,
    BEFORE_ONLY,
    EITHER,
    FILLERS,
    GENERIC,
    LEADS_TO_NAME,
    NOT_THIS,
    NUMBER_LABELS,
    PHONE_LABELS,
)
from bot.checkout.parser.words import WHOLE_NUMBER, Word, meant_digits
from bot.core.errors import Rejection, Remark
from bot.recipients.banks import find_known
from bot.recipients.numbers import (
    MAX_ACCOUNT_DIGITS,
    TYPICAL_ACCOUNT_DIGITS,
    LikeMobile,
    NumberRejected,
    clean_number,
)
from bot.settlement.model import BANK, PayoutMethod

MOST_PIECES: Final = 7
"""Maximum of words in one run, for 2⁶ divisions. Users don't write a number in more pieces."""

_MOBILE: Final = re.compile(r"(?:\+?62|0)?8\d{8,11}")
_RIVAL_MARGIN: Final = 2
"""How much less likely a second reading can be and still make the first one uncertain."""

Division = tuple[DigitGroup, ...]
LEADING: Final = FILLERS | GENERIC | PHONE_LABELS
_MOST_LEADING: Final = 4
LEAST_OF_RIVAL: Final = 8
"""How many digits a number in pieces can have."""

_LEAST_SPLIT: Final = 3
"""Number of words in a sum with spaces whose first word may be something else: "Budi 10 250 000"."""

_PIECES_BESIDE: Final = 3
"""Number of words on each side of a number that may belong to it."""


def divide(run: Sequence[str], *, has_sum: bool, fits: Callable[[str], bool] | None = None) -> Division | None:
    """Return the groups of digits that the words of `run` make, or None if that is unclear.

    `has_sum`: the line names its sum elsewhere. `fits`: whether a number is usual for the destination, if it's known.
    """
    if len(run) > MOST_PIECES:
        return None
    weighed = [(_oddness(each, has_sum=has_sum, fits=fits), each) for each in _divisions(tuple(run))]
    least = min((odd for odd, _ in weighed), default=0)
    likeliest = [division for odd, division in weighed if odd == least]
    rivals = [division for odd, division in weighed if odd <= least + _RIVAL_MARGIN]
    if len(likeliest) != 1 or (len(rivals) > 1 and _is_cut_off(likeliest[0])):
        return None
    return likeliest[0]


def is_cut_short(number: DigitGroup, as_sent: Callable[[str], str], fits: Callable[[str], bool] | None) -> bool:
    """Return whether a number in pieces is also complete without its first or last short pieces.

    `as_sent`: the form that goes to the service, because "62 812 …" without its first piece is the same number.
    """
    pieces = number.text.split()
    whole = as_sent(number.number)
    for place in range(1, len(pieces)):
        for kept, dropped in ((pieces[:place], pieces[place:]), (pieces[place:], pieces[:place])):
            part = DigitGroup("number", " ".join(kept)).number
            is_short = len(kept) == 1 or all(len(digits_of(piece)) < SHORTEST_NUMBER for piece in dropped)
            if is_short and not is_country(dropped[0]) and as_sent(part) != whole and could_be_whole(part, fits):
                return True
    return False


def numbers_in(texts: Sequence[str]) -> Iterator[str]:
    """Yield every number that neighbouring `texts` can form. A sum isn't part of a number."""
    for start in range(len(texts)):
        for stop in range(start + 1, len(texts) + 1):
            if any(len(text) >= SHORTEST_NUMBER and is_sum(text) for text in texts[start:stop]):
                break
            yield DigitGroup("number", " ".join(texts[start:stop])).number


def could_be_whole(number: str, fits: Callable[[str], bool] | None) -> bool:
    """Return whether `number` needs no more digits: it is usual for the destination, or anywhere if none is known."""
    if fits is not None:
        return fits(number)
    return len(digits_of(number)) in TYPICAL_ACCOUNT_DIGITS or _MOBILE.fullmatch(number) is not None


def _is_cut_off(division: Division) -> bool:
    """Return whether few digits next to a number in pieces are read as a sum. They may be one more piece of it."""
    in_pieces = any(each.kind == "number" and " " in each.text for each in division)
    return in_pieces and any(each.kind == "short" for each in division)


def _divisions(run: tuple[str, ...]) -> Iterator[Division]:
    if not run:
        yield ()
    for end in range(1, len(run) + 1):
        for first in _digit_groups(run[:end]):
            yield from ((first, *rest) for rest in _divisions(run[end:]))


def _oddness(division: Division, *, has_sum: bool, fits: Callable[[str], bool] | None) -> int:
    sums = sum(each.kind in {"sum", "short"} for each in division)
    too_many = max(sums - (0 if has_sum else 1), 0)
    misfits = sum(each.kind == "number" and fits is not None and not fits(each.number) for each in division)
    return sum(each.odd for each in division) + 3 * (too_many + misfits)


def _digit_groups(words: tuple[str, ...]) -> Iterator[DigitGroup]:
    """Yield what these words can be if they are read as one."""
    return _alone(words[0]) if len(words) == 1 else _together(words)


def _alone(text: str) -> Iterator[DigitGroup]:
    length = len(digits_of(text))
    if is_sum(text) and length >= CERTAIN_NUMBER_DIGITS:
        yield DigitGroup("huge", text, odd=2)
    elif is_sum(text):
        yield DigitGroup("sum", text)
    elif is_piece(text) and (length >= CERTAIN_NUMBER_DIGITS or (starts_as_number(text) and length >= SHORTEST_NUMBER)):
        yield DigitGroup("number", text)
    elif is_short_sum(text):
        yield DigitGroup("short", text)
    elif is_piece(text) and SHORTEST_NUMBER <= length <= LONGEST_SUM:
        yield DigitGroup("unsure", text, odd=2)
    else:
        yield DigitGroup("short", text, odd=4 if starts_as_number(text) else 2)


def _together(words: tuple[str, ...]) -> Iterator[DigitGroup]:
    text = " ".join(words)
    if is_spaced_thousands(text):
        yield DigitGroup("sum" if len(digits_of(text)) < CERTAIN_NUMBER_DIGITS else "huge", text)
    if not all(is_piece(word) for word in words) or any(word.startswith("+") for word in words[1:]):
        return
    if any(len(digits_of(word)) >= CERTAIN_NUMBER_DIGITS for word in words) and not _is_with_country(words):
        return
    length = len(digits_of(text))
    if CERTAIN_NUMBER_DIGITS <= length <= MAX_ACCOUNT_DIGITS:
        yield DigitGroup("number", text, odd=_oddness_of_number(words, length))
    elif starts_as_number(text) and SHORTEST_NUMBER <= length < CERTAIN_NUMBER_DIGITS:
        yield DigitGroup("number", text, odd=1)


def _is_with_country(words: tuple[str, ...]) -> bool:
    return len(words) == 2 and is_country(words[0])  # noqa: PLR2004  the code and the rest


def _oddness_of_number(words: tuple[str, ...], length: int) -> int:
    # "62 812 …": no one means 62 thousand.
    is_mobile = is_country(words[0]) and digits_of(words[1]).startswith("8")
    has_sum_within = any(len(word) > 4 and is_sum(word) for word in words)  # noqa: PLR2004  "1000" is a usual piece
    return (
        -int(is_mobile)
        + 2 * int(length >= TYPICAL_ACCOUNT_DIGITS.stop)
        + int(has_sum_within)
        + int(words[0].startswith("000"))
    )


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a line, certain or doubtful, or why it is rejected."""

    number: str | None = None
    doubtful: str | None = None
    remark: Remark | None = None
    rejection: Rejection | None = None
    places: range = range(0)


def read_runs(
    words: Sequence[Word],
    sums: Sequence[Sum],
    free: Sequence[bool],
    method: PayoutMethod | None,
    candidates: Sequence[PayoutMethod] = (),
) -> tuple[list[DigitGroup], list[int]]:
    """Return all digits without a unit, and the places of words whose meaning is unclear.

    `free`: the words that are neither digits nor part of a destination or a sum. `candidates`: the destinations that
    may be meant where `method` isn't known.
    """
    runs = list(_runs(words, sums))
    sure_sums = sum(len(run) == 1 and is_sum(words[run[0]].text) for run in runs)
    groups, unclear, rivals = list[DigitGroup](), list[int](), 0
    has_bank = any(each.kind == BANK for each in ((method,) if method else candidates))
    for places in runs:
        run = _Run(words, places, free, method, has_bank)
        others = len(sums) + sure_sums - (len(places) == 1 and is_sum(words[places[0]].text))
        read = None if run.is_else else run.groups(sums, has_sum=others > 0)
        if read is None:
            unclear += places
            is_known = run.is_else and len(places) == 1 and method is not None and not words[places.start].is_unclear
            rivals += (run.may_be_number or run.is_account) and not is_known
        else:
            groups += read
            rivals += run.is_account and all(each.kind not in {"number", "unsure"} for each in read)
    if rivals or any(each.kind == "huge" for each in groups):
        # Unknown digits may be the number, so no other digits are used.
        unclear += [place for each in groups if each.kind in {"number", "unsure"} for place in each.places]
        groups = [each for each in groups if each.kind not in {"number", "unsure"}]
    return groups, unclear


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring words of digits, and the words around them."""

    words: Sequence[Word]
    places: range
    free: Sequence[bool]
    method: PayoutMethod | None
    has_bank: bool

    def groups(self, sums: Sequence[Sum], *, has_sum: bool) -> list[DigitGroup] | None:
        """Return the numbers and sums of the run, or None if they are ambiguous."""
        if _has_unclear_unit(self.words, sums, self.places):
            return None
        places = self.places[1:] if self._starts_with_code() else self.places
        texts = [self.words[place].text for place in places]
        if any(_is_unreadable(text) and (len(texts) == 1 or len(digits_of(text)) >= LEAST_OF_RIVAL) for text in texts):
            return None
        divided = self._labelled(texts) or divide(texts, has_sum=has_sum, fits=self._fits)
        if divided is None or any(self._is_number_unclear(each) for each in divided):
            return None
        has_sum = has_sum or any(each.kind == "sum" for each in divided)
        if not has_sum and any(_may_hold_sum(each) for each in divided):
            return None
        found, start = list[DigitGroup](), places.start
        for each in divided:
            at = range(start, start + len(each.text.split()))
            is_unclear = self._is_sum_unclear(each, at)
            if each.kind != "number" and any(self.words[place].mark for place in at):
                each, is_unclear = replace(each, text=join_typed(self.words[at.start : at.stop])), True  # noqa: PLW2901
            found.append(replace(each, places=at, is_unclear=is_unclear))
            start = at.stop
        return found

    def _labelled(self, texts: Sequence[str]) -> tuple[DigitGroup, ...]:
        """Return the whole run as an amount or a number, if the word before it says so."""
        label, text = "".join(self._labels()[:1]), " ".join(texts)
        is_amount = label in AMOUNT_LABELS and (is_sum(text) or is_spaced_sum(text) or text.isdecimal())
        if is_amount and not starts_as_number(text) and len(digits_of(text)) < WHOLE_NUMBER:
            return (DigitGroup("sum", text),)
        is_number = label in NUMBER_LABELS and self._fits is not None and self._fits(digits_of(text))
        if is_number and len(texts) == 1 and text.replace(".", "").isdecimal():
            return (DigitGroup("number", text),)
        return ()

    @property
    def is_account(self) -> bool:
        """Return whether a word before says that the account's number follows."""
        return not ACCOUNT_LABELS.isdisjoint(self._labels())

    @property
    def may_be_number(self) -> bool:
        """Return whether the run has enough digits for a number."""
        least = SHORTEST_NUMBER if self.words[self.places.start].is_unclear else LEAST_OF_RIVAL
        return sum(len(digits_of(self.words[place].text)) for place in self.places) >= least

    @property
    def is_else(self) -> bool:
        """Return whether the words before say that the money doesn't go to these digits, or that they aren't sent."""
        first = self.words[self.places.start]
        if any(self.words[place].is_unclear for place in self.places) and (
            len(self.places) > 1 or not is_sum(first.text)
        ):
            return True
        before = self.places.start - 1
        if first.glued and (self.free[before] and self.words[before].folded not in LEADING):
            return True  # "trx1234567890"
        labels = self._labels()
        return (self.has_bank and not PHONE_LABELS.isdisjoint(labels)) or not NOT_THIS.isdisjoint(labels)

    def _labels(self) -> list[str]:
        """Return the labels right before the run, and the word before them."""
        found, place = list[str](), self.places.start
        while place > 0 and len(found) < _MOST_LEADING:
            if self.words[place].parted and self.words[place - 1].folded not in ACCOUNT_LABELS | PHONE_LABELS:
                break
            place -= 1
            found.append(self.words[place].folded.strip("."))
            if found[-1] not in LEADING:
                break
        return found

    def _starts_with_code(self) -> bool:
        """Return whether the first word is the bank's code, which many users write before the number ("bca 014 …")."""
        if self.method is None or len(self.places) == 1 or self.words[self.places.start].text != self.method.code:
            return False
        return not is_usual(self.method, "".join(digits_of(self.words[place].text) for place in self.places))

    def _is_number_unclear(self, groups: DigitGroup) -> bool:
        if groups.kind != "number" or " " not in groups.text:
            return False
        texts = [self.words[place].text for place in self.places]
        if not AMOUNT_LABELS.isdisjoint(self._labels()[:1]) or any(map(_is_unreadable, texts)):
            return True
        if any(len(text) >= SHORTEST_NUMBER and is_sum(text) for text in groups.text.split()):
            return True
        if self._is_beside_digits() or is_cut_short(groups, self._as_sent, self._fits):
            return True
        if self.method is None or takes_any_number(self.method):
            return False
        return len({self._as_sent(each) for each in numbers_in(texts) if is_usual(self.method, each)}) > 1

    def _is_sum_unclear(self, groups: DigitGroup, at: range) -> bool:
        if groups.kind == "number":
            return False
        is_labelled = at.start == self.places.start and not NUMBER_LABELS.isdisjoint(self._labels()[:1])
        if is_labelled or is_amount_unclear(self.words, at.start, at.stop):
            return True
        if len(at) == 1:
            return False
        before = at.start - 1
        is_behind = before >= 0 and not self.words[at.start].parted
        is_unknown = is_behind and self.free[before] and self.words[before].folded not in (LEADING | LEADS_TO_NAME)
        return self._is_beside_digits(or_behind_marks=True) or (len(at) >= _LEAST_SPLIT and is_unknown)

    def _is_beside_digits(self, *, or_behind_marks: bool = False) -> bool:
        """Return whether a date, a code or a count is next to it, so it is unclear which digits belong together."""
        before, after = self.places.start - 1, self.places.stop
        beside = [(before, self.places.start), (after, after)]
        return any(
            0 <= place < len(self.words)
            and (or_behind_marks or not self.words[joint].parted)
            and _has_odd_digits(self.words[place])
            for place, joint in beside
        )

    @property
    def _fits(self) -> Callable[[str], bool] | None:
        return None if self.method is None else partial(is_usual, self.method)

    def _as_sent(self, number: str) -> str:
        return as_sent(number, self.method)


def _is_unreadable(text: str) -> bool:
    """Return whether the digits can't be a sum or a piece of a number: "7,12,8397"."""
    return not is_piece(text) and read_sum(text) is None


def _may_hold_sum(groups: DigitGroup) -> bool:
    """Return whether a piece of the number may be the sum: "1000999 008" in a line without another sum."""
    pieces = groups.text.split() if groups.kind == "number" else []
    return len(pieces) > 1 and any(
        SHORTEST_NUMBER <= len(digits_of(piece)) < WHOLE_NUMBER and not starts_as_number(piece) for piece in pieces
    )


def _has_odd_digits(word: Word) -> bool:
    """Return whether the word has digits that are neither number nor sum: a date, a count, "39/2000"."""
    if not any(character.isdecimal() for character in word.text):
        return False
    return word.odd or not (is_digits(word) or any(character.isalpha() for character in word.text))


def _runs(words: Sequence[Word], sums: Sequence[Sum]) -> Iterator[range]:
    """Yield the places of digits that have only spaces between them."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    start = 0
    while start < len(words):
        stop = start
        while stop < len(words) and is_digits(words[stop]) and stop not in taken:
            if stop > start and words[stop].parted:
                break
            stop += 1
        if stop > start:
            yield range(start, stop)
        start = max(stop, start + 1)


def _has_unclear_unit(words: Sequence[Word], sums: Sequence[Sum], run: range) -> bool:
    """Return whether it is unclear which of the digits a unit next to them belongs to."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    beside = [place for place in (run.start - 1, run.stop) if 0 <= place < len(words) and place not in taken]
    if len(run) > 1:
        return any(words[place].folded in UNITS for place in beside) or (
            run.stop in beside and begins_part(words, run.stop)
        )
    text = words[run.start].text
    if starts_as_number(text) or len(digits_of(text)) < WHOLE_NUMBER:
        return False
    return any(_is_unit_of(words, run.start, place) for place in beside)


def _is_unit_of(words: Sequence[Word], group: int, place: int) -> bool:
    """Return whether the unit next to a number can only belong to that number: "rp 1234567890"."""
    if words[max(group, place)].parted or (words[place].folded in BEFORE_ONLY) != (place < group):
        return False
    beyond = 2 * place - group
    return words[place].folded in UNITS and not (0 <= beyond < len(words) and is_digits(words[beyond]))


def decide_number(groups: Sequence[DigitGroup], method: PayoutMethod | None) -> tuple[Number, list[DigitGroup]]:
    """Return the number, and the digits that are still unused. If there are two numbers, take neither."""
    certain = [each for each in groups if each.kind == "number"]
    unsure = [each for each in groups if each.kind == "unsure"]
    chosen = [*certain, *(each for each in unsure if _is_rival(each, method))] or unsure
    if len({as_sent(each.number, method) for each in chosen}) != 1:
        return Number(), list(groups)
    rest = [each for each in groups if each not in chosen]
    return replace(_checked(chosen[0].number, method, is_certain=bool(certain)), places=chosen[0].places), rest


def _is_rival(groups: DigitGroup, method: PayoutMethod | None) -> bool:
    """Return whether a short number may be the account, although another number is longer."""
    return len(groups.number) >= LEAST_OF_RIVAL if method is None else is_usual(method, groups.number)


def takes_any_number(method: PayoutMethod) -> bool:
    """Return whether a bank's numbers can have any length."""
    known = find_known(method.code, method.name)
    return method.kind == BANK and (known is None or known.digits is None)


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
        return number
    try:
        return clean_number(method, number).number
    except Rejection:
        return number


def _checked(number: str, method: PayoutMethod | None, *, is_certain: bool) -> Number:
    if len(digits_of(number)) > MAX_ACCOUNT_DIGITS:
        return Number(
            rejection=NumberRejected(
                "recipients.number.too_long", longest=MAX_ACCOUNT_DIGITS, actual=len(digits_of(number))
            )
        )
    if method is None:
        return Number(number=number) if is_certain else Number(doubtful=number)
    try:
        cleaned = clean_number(method, number)
    except Rejection as refused:
        return Number(rejection=refused)
    if cleaned.remark is None and is_certain:
        return Number(number=cleaned.number)
    return Number(doubtful=cleaned.number, remark=cleaned.remark)


def has_rival(
    words: Sequence[Word],
    sums: Sequence[Sum],
    number: Number,
    unread: Collection[int],
    method: PayoutMethod | None,
    *,
    possible_amount: Collection[int] = (),
) -> bool:
    """Return whether the line may mean another number than `number`.

    It may if unknown digits together have enough digits for a number, if other digits follow a word such as "rek" (or
    "no", next to a phone number), or if "atau" offers other digits. A code after a word such as "kode" doesn't count.
    `possible_amount` has the places of digits that may be the sum.
    """
    if not number.places:
        return False
    taken = {place for each in sums for place in range(each.start, each.stop)} | set(number.places)
    if any(sum(map(_digits, each)) >= LEAST_OF_RIVAL for each in _in_pieces(words, {*unread, *possible_amount})):
        return True
    before = _before_labels(words, number.places.start)
    labels = _labels(words, number.places.start)
    account = ACCOUNT_LABELS if PHONE_LABELS.isdisjoint(labels) else NUMBER_LABELS
    for place, word in enumerate(words):
        if word.folded.strip(".") in account and _leads_elsewhere(words, place, taken, method):
            return True
    if method is None and account is NUMBER_LABELS and any(_may_be_account(words, taken)):
        return True
    if ACCOUNT_LABELS.isdisjoint(labels) and _is_labelled_aside(words, before, unread):
        return True
    return any(0 <= at < len(words) and words[at].folded in EITHER for at in (before, number.places.stop))


def is_phone(words: Sequence[Word], number: Number) -> bool:
    """Return whether a word such as "hp" says that `number` is a phone's, and no word says that it is an account."""
    if not number.places:
        return False
    labels = _labels(words, number.places.start)
    return not PHONE_LABELS.isdisjoint(labels) and ACCOUNT_LABELS.isdisjoint(labels)


def _may_be_account(words: Sequence[Word], taken: Collection[int]) -> Iterator[bool]:
    """Yield for each unused word whether it has enough digits for an account number."""
    return (place not in taken and _digits(word) >= LEAST_OF_RIVAL for place, word in enumerate(words))


def _in_pieces(words: Sequence[Word], unread: Collection[int]) -> Iterator[list[Word]]:
    """Yield two or more neighbouring unknown words of digits: "6860 3783 49!60 3", "7/1; 5.50, 9, 34"."""
    pieces = list[Word]()
    for place, word in enumerate(words):
        if place in unread and _is_piece(word) and not (pieces and word.parted and word.aside):
            pieces.append(word)
            continue
        if len(pieces) > 1:
            yield pieces
        pieces = []
    if len(pieces) > 1:
        yield pieces


def _is_piece(word: Word) -> bool:
    return _digits(word) > 0 and not any(map(str.isalpha, word.text))


def _digits(word: Word) -> int:
    return len(digits_of(word.text))


def _leads_elsewhere(words: Sequence[Word], place: int, taken: Collection[int], method: PayoutMethod | None) -> bool:
    """Return whether unused digits follow the word at `place`, which says that the number follows."""
    before = _before_labels(words, place)
    if before >= 0 and words[before].folded in NOT_THIS:
        return False
    at = place + 1
    while at < len(words) and (words[at].folded in LEADING or (method is not None and words[at].text == method.code)):
        at += 1
    if at == len(words) or at in taken or words[at].aside:
        return False
    return any(map(str.isdecimal, words[at].text))


def _is_labelled_aside(words: Sequence[Word], place: int, unread: Collection[int]) -> bool:
    """Return whether the word at `place`, or the one before it, labels a code after a mark ("resi JX{12…")."""
    if place < 0:
        return False
    if words[place].folded in ASIDE_LABELS:
        return True
    is_between = place in unread and not words[place].parted and not _digits(words[place])
    return is_between and place > 0 and words[place - 1].folded in ASIDE_LABELS


def _labels(words: Sequence[Word], place: int) -> set[str]:
    """Return the labels before the word at `place`."""
    return {word.folded.strip(".") for word in words[_before_labels(words, place) + 1 : place]}


def _before_labels(words: Sequence[Word], place: int) -> int:
    """Return the place before the labels of the word at `place`, or -1."""
    at = place - 1
    while at >= 0 and words[at].folded.strip(".") in LEADING - EITHER:
        at -= 1
    return at


def may_go_on(
    words: Sequence[Word],
    sums: Sequence[Sum],
    number: Number,
    unread: Collection[int],
    method: PayoutMethod | None,
    *,
    has_sum: bool,
) -> bool:
    """Return whether digits next to the number may belong to it: "0812345678 90", "3733;7308528857".

    They are unknown, or only a mark separates them, or both have dots in them ("707.280.467.5; 49.684"), and the number
    would be as usual with them. `has_sum`: one sum is certain, so digits that form a sum are that sum.
    """
    if number.remark is not None or not number.places:
        return False
    texts = [digits_of(words[place].text) for place in number.places]
    before, after = number.places.start - 1, number.places.stop
    taken = {place for each in sums for place in range(each.start, each.stop)}
    is_dotted = any("." in words[place].text for place in number.places)

    def piece(place: int, joint: int) -> str:
        if not 0 <= place < len(words) or (place in taken and (has_sum or not words[joint].cut)):
            return ""
        beside = words[place].text[-1 if place < joint else 0]
        may_be = place in unread or (is_dotted and "." in words[place].text)
        return _piece(words[place], beside, is_unread=may_be, is_cut=words[joint].cut, has_sum=has_sum)

    first = list(takewhile(bool, (piece(before - step, before - step + 1) for step in range(_PIECES_BESIDE))))[::-1]
    last = list(takewhile(bool, (piece(after + step, after + step) for step in range(_PIECES_BESIDE))))
    longer = [*first, *texts, *last]
    fits = None if method is None else partial(is_usual, method)
    least = len(texts) if method is None or takes_any_number(method) else 1
    for start in range(len(longer)):
        for stop in range(start + least, len(longer) + 1):
            has_neighbour = start < len(first) or stop > len(first) + len(texts)
            if has_neighbour and could_be_whole("".join(longer[start:stop]), fits):
                return True
    return False


def _piece(word: Word, beside: str, *, is_unread: bool, is_cut: bool, has_sum: bool) -> str:
    """Return the digits that may belong to the number next to them. A few digits may even if they can be a sum.

    `beside`: the character that is next to the number.
    """
    digits = digits_of(word.text)
    if not digits or (word.aside and not word.text.isdecimal()):
        return ""
    if any(map(str.isalpha, word.text)):
        return meant_digits(word.text) if is_unread and meant_digits(beside) else ""
    if has_sum and is_sum(word.text):
        return digits if is_unread else ""
    may_be = is_unread or is_cut or (is_digits(word) and (not has_sum or len(digits) < SHORTEST_NUMBER))
    return digits if may_be else ""
