"""The number and the amount of a line, out of all figures in it: one of each, or a question."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bot.checkout.parser.figures import (
    SHORTEST_NUMBER,
    digits_of,
    is_figures,
    is_piece,
    is_spaced_sum,
    is_sum,
    starts_as_number,
)
from bot.checkout.parser.runs import Figures, divide, is_cut_short, numbers_in
from bot.checkout.parser.sums import BEFORE_ONLY, Reading, Sum, in_doubt, is_in_doubt, meanings, read_sum
from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    AMOUNT_LABELS,
    FILLERS,
    GENERIC,
    LEADS_TO_NAME,
    NOT_THIS,
    NUMBER_LABELS,
    PHONE_LABELS,
)
from bot.checkout.parser.words import WHOLE_NUMBER, Word
from bot.core.errors import Rejection, Remark
from bot.core.money import Amount
from bot.core.money.vocabulary import CURRENCIES, SCALES
from bot.recipients.banks import known_as
from bot.recipients.numbers import LIKE_MOBILE, LONGEST_ACCOUNT, clean_number
from bot.settlement.model import BANK, PayoutMethod

MOST_READINGS: Final = 4
_UNITS: Final = {*CURRENCIES, *(scale for scale in SCALES if len(scale) > 1)}
LEADING: Final = FILLERS | GENERIC | PHONE_LABELS
_MOST_LEADING: Final = 4
LEAST_OF_RIVAL: Final = 8
"""Digits of figures that may be a number in pieces."""

_LEAST_SPLIT: Final = 3
"""Words of a sum with spaces of which the first may be something else: "Budi 10 250 000"."""


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a line, sure or doubtful; or why it is refused."""

    number: str | None = None
    doubtful: str | None = None
    doubt: Remark | None = None
    rejection: Rejection | None = None
    places: range = range(0)


@dataclass(frozen=True, slots=True)
class Money:
    """The amount of a line; or the readings of `text`; or why it is refused."""

    amount: Amount | None = None
    readings: tuple[Amount, ...] = ()
    text: str = ""
    rejection: Rejection | None = None

    @property
    def doubted(self) -> "Money":
        """The same as a question."""
        if self.amount is None:
            return self
        return replace(self, amount=None, readings=(self.amount,))


def read_runs(
    words: Sequence[Word],
    sums: Sequence[Sum],
    free: Sequence[bool],
    method: PayoutMethod | None,
    candidates: Sequence[PayoutMethod] = (),
) -> tuple[list[Figures], list[int]]:
    """All figures without a unit, and the places of those words of which nobody can say what they are.

    `free`: the words that are neither figures nor part of a destination or a sum. `candidates`: the destinations that
    may be meant where `method` isn't known.
    """
    runs = list(_runs(words, sums))
    sure_sums = sum(len(run) == 1 and is_sum(words[run[0]].text) for run in runs)
    figures, unclear, rivals = list[Figures](), list[int](), 0
    has_bank = any(each.kind == BANK for each in ((method,) if method else candidates))
    for places in runs:
        run = _Run(words, places, free, method, has_bank)
        others = len(sums) + sure_sums - (len(places) == 1 and is_sum(words[places[0]].text))
        read = None if run.is_else else run.figures(sums, has_sum=others > 0)
        if read is None:
            unclear += places
            is_known = run.is_else and len(places) == 1 and method is not None and not words[places.start].doubted
            rivals += (run.may_be_number or run.is_account) and not is_known
        else:
            figures += read
            rivals += run.is_account and all(each.kind not in {"number", "unsure"} for each in read)
    if rivals or any(each.kind == "huge" for each in figures):
        # What isn't understood may be the number, so nothing else is.
        unclear += [place for each in figures if each.kind in {"number", "unsure"} for place in each.places]
        figures = [each for each in figures if each.kind not in {"number", "unsure"}]
    return figures, unclear


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of figures that stand side by side, with what is around them."""

    words: Sequence[Word]
    places: range
    free: Sequence[bool]
    method: PayoutMethod | None
    has_bank: bool

    def figures(self, sums: Sequence[Sum], *, has_sum: bool) -> list[Figures] | None:
        """The numbers and sums that it holds; None where that is anybody's guess."""
        if _has_loose_unit(self.words, sums, self.places):
            return None
        places = self.places[1:] if self._starts_with_code() else self.places
        texts = [self.words[place].text for place in places]
        if any(_is_unreadable(text) and (len(texts) == 1 or len(digits_of(text)) >= LEAST_OF_RIVAL) for text in texts):
            return None
        divided = self._labelled(texts) or divide(texts, has_sum=has_sum, fits=self._fits)
        if divided is None or any(self._is_doubtful_number(each) for each in divided):
            return None
        has_sum = has_sum or any(each.kind == "sum" for each in divided)
        if not has_sum and any(_may_hold_sum(each) for each in divided):
            return None
        found, start = list[Figures](), places.start
        for each in divided:
            at = range(start, start + len(each.text.split()))
            found.append(replace(each, places=at, in_doubt=self._is_doubtful_sum(each, at)))
            start = at.stop
        return found

    def _labelled(self, texts: Sequence[str]) -> tuple[Figures, ...]:
        """The whole run as what the word right before calls it: an amount, or a number."""
        label, text = "".join(self._labels()[:1]), " ".join(texts)
        is_amount = label in AMOUNT_LABELS and (is_sum(text) or is_spaced_sum(text) or text.isdecimal())
        if is_amount and not starts_as_number(text) and len(digits_of(text)) < WHOLE_NUMBER:
            return (Figures("sum", text),)
        is_number = label in NUMBER_LABELS and self._fits is not None and self._fits(digits_of(text))
        if is_number and len(texts) == 1 and text.replace(".", "").isdecimal():
            return (Figures("number", text),)
        return ()

    @property
    def is_account(self) -> bool:
        """Whether a word before says that the account's number follows."""
        return not ACCOUNT_LABELS.isdisjoint(self._labels())

    @property
    def may_be_number(self) -> bool:
        """Whether there are digits enough for a number."""
        least = SHORTEST_NUMBER if self.words[self.places.start].doubted else LEAST_OF_RIVAL
        return sum(len(digits_of(self.words[place].text)) for place in self.places) >= least

    @property
    def is_else(self) -> bool:
        """Whether the words before say that these figures are not what the money goes to, or not what is sent."""
        first = self.words[self.places.start]
        if any(self.words[place].doubted for place in self.places) and (len(self.places) > 1 or not is_sum(first.text)):
            return True
        before = self.places.start - 1
        if first.glued and (self.free[before] and self.words[before].folded not in LEADING):
            return True  # "trx1234567890"
        labels = self._labels()
        return (self.has_bank and not PHONE_LABELS.isdisjoint(labels)) or not NOT_THIS.isdisjoint(labels)

    def _labels(self) -> list[str]:
        """The words right before that lead here, and the one before these."""
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
        """Whether the first word is the bank's own code, which stands before numbers by habit ("bca 014 …")."""
        if self.method is None or len(self.places) == 1 or self.words[self.places.start].text != self.method.code:
            return False
        return not is_usual(self.method, "".join(digits_of(self.words[place].text) for place in self.places))

    def _is_doubtful_number(self, figures: Figures) -> bool:
        if figures.kind != "number" or " " not in figures.text:
            return False
        texts = [self.words[place].text for place in self.places]
        if not AMOUNT_LABELS.isdisjoint(self._labels()[:1]) or any(map(_is_unreadable, texts)):
            return True
        if any(len(text) >= SHORTEST_NUMBER and is_sum(text) for text in figures.text.split()):
            return True
        if self._is_beside_figures() or is_cut_short(figures, self._as_sent, self._fits):
            return True
        if self.method is None or takes_any_number(self.method):
            return False
        return len({self._as_sent(each) for each in numbers_in(texts) if is_usual(self.method, each)}) > 1

    def _is_doubtful_sum(self, figures: Figures, at: range) -> bool:
        if figures.kind == "number":
            return False
        is_labelled = at.start == self.places.start and not NUMBER_LABELS.isdisjoint(self._labels()[:1])
        if is_labelled or is_in_doubt(self.words, at.start, at.stop):
            return True
        if len(at) == 1:
            return False
        before = at.start - 1
        is_behind = before >= 0 and not self.words[at.start].parted
        is_loose = is_behind and self.free[before] and self.words[before].folded not in (LEADING | LEADS_TO_NAME)
        return self._is_beside_figures(or_behind_marks=True) or (len(at) >= _LEAST_SPLIT and is_loose)

    def _is_beside_figures(self, *, or_behind_marks: bool = False) -> bool:
        """Whether a date, a code or a count stands right beside, so that nobody can say which figure is whose."""
        before, after = self.places.start - 1, self.places.stop
        beside = [(before, self.places.start), (after, after)]
        return any(
            0 <= place < len(self.words)
            and (or_behind_marks or not self.words[joint].parted)
            and _is_odd_figure(self.words[place])
            for place, joint in beside
        )

    @property
    def _fits(self) -> Callable[[str], bool] | None:
        return None if self.method is None else partial(is_usual, self.method)

    def _as_sent(self, number: str) -> str:
        return as_sent(number, self.method)


def _is_unreadable(text: str) -> bool:
    """Whether the figures are neither a piece of a number nor a sum: "7,12,8397"."""
    return not is_piece(text) and read_sum(text) is None


def _may_hold_sum(figures: Figures) -> bool:
    """Whether a piece of the number is long enough for a sum by itself: "1000999 008", where no other sum is."""
    pieces = figures.text.split() if figures.kind == "number" else []
    return len(pieces) > 1 and any(
        SHORTEST_NUMBER <= len(digits_of(piece)) < WHOLE_NUMBER and not starts_as_number(piece) for piece in pieces
    )


def _is_odd_figure(word: Word) -> bool:
    """Whether the word has figures that are neither number nor sum: a date, a count, "39/2000"."""
    if not any(character.isdecimal() for character in word.text):
        return False
    return word.odd or not (is_figures(word) or any(character.isalpha() for character in word.text))


def _runs(words: Sequence[Word], sums: Sequence[Sum]) -> Iterator[range]:
    """Where words of figures stand side by side with nothing but spaces between."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    start = 0
    while start < len(words):
        stop = start
        while stop < len(words) and is_figures(words[stop]) and stop not in taken:
            if stop > start and words[stop].parted:
                break
            stop += 1
        if stop > start:
            yield range(start, stop)
        start = max(stop, start + 1)


def _has_loose_unit(words: Sequence[Word], sums: Sequence[Sum], run: range) -> bool:
    """Whether a unit beside the figures belongs to one of them, but nobody can say to how much of them."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    beside = [place for place in (run.start - 1, run.stop) if 0 <= place < len(words) and place not in taken]
    if len(run) > 1:
        return any(words[place].folded in _UNITS for place in beside)
    text = words[run.start].text
    if starts_as_number(text) or len(digits_of(text)) < WHOLE_NUMBER:
        return False
    return any(_is_unit_of(words, run.start, place) for place in beside)


def _is_unit_of(words: Sequence[Word], figure: int, place: int) -> bool:
    """Whether the unit right beside a figure can be its own, and no other figure's: "rp 1234567890"."""
    if words[max(figure, place)].parted or (words[place].folded in BEFORE_ONLY) != (place < figure):
        return False
    beyond = 2 * place - figure
    return words[place].folded in _UNITS and not (0 <= beyond < len(words) and is_figures(words[beyond]))


def decide_number(figures: Sequence[Figures], method: PayoutMethod | None) -> tuple[Number, list[Figures]]:
    """The number, and the figures that are still without a meaning. Of two numbers none is taken."""
    sure = [each for each in figures if each.kind == "number"]
    unsure = [each for each in figures if each.kind == "unsure"]
    chosen = [*sure, *(each for each in unsure if _is_rival(each, method))] or unsure
    if len({as_sent(each.number, method) for each in chosen}) != 1:
        return Number(), list(figures)
    rest = [each for each in figures if each not in chosen]
    return replace(_checked(chosen[0].number, method, sure=bool(sure)), places=chosen[0].places), rest


def _is_rival(figures: Figures, method: PayoutMethod | None) -> bool:
    """Whether a short number may be the one that is meant, though another one is longer."""
    return len(figures.number) >= LEAST_OF_RIVAL if method is None else is_usual(method, figures.number)


def takes_any_number(method: PayoutMethod) -> bool:
    """Whether the length of a number says nothing about its being this bank's."""
    known = known_as(method.code, method.name)
    return method.kind == BANK and (known is None or known.digits is None)


def is_usual(method: PayoutMethod, number: str) -> bool:
    """Whether `method` has numbers of this form."""
    try:
        remark = clean_number(method, number).remark
    except Rejection:
        return False
    # That a phone may have the same number is asked, but it makes no other reading of the line likelier.
    return remark is None or remark.key == LIKE_MOBILE


def as_sent(number: str, method: PayoutMethod | None) -> str:
    """The form that goes to the service; as typed where no method is known or it takes no such number."""
    if method is None:
        return number
    try:
        return clean_number(method, number).number
    except Rejection:
        return number


def _checked(number: str, method: PayoutMethod | None, *, sure: bool) -> Number:
    if len(digits_of(number)) > LONGEST_ACCOUNT:
        return Number(rejection=Rejection("number.too_long", longest=LONGEST_ACCOUNT, actual=len(digits_of(number))))
    if method is None:
        return Number(number=number) if sure else Number(doubtful=number)
    try:
        cleaned = clean_number(method, number)
    except Rejection as refused:
        return Number(rejection=refused)
    if cleaned.remark is None and sure:
        return Number(number=cleaned.number)
    return Number(doubtful=cleaned.number, doubt=cleaned.remark)


def decide_money(
    sums: Sequence[Sum], figures: Sequence[Figures], *, has_number: bool, loose: str | None = None
) -> tuple[Money, list[Figures]]:
    """The amount, and the figures that stay without a meaning.

    `loose`: a currency that is named apart from the sum, which may be in it therefore.
    """
    told = [(each.text, each.value) for each in sums] + list(_read(figures, {"sum"}))
    if loose is not None:
        told += [(text, other) for text, _ in told if (other := read_sum(f"{text} {loose}")) is not None]
    if told:
        return _settled(told), [each for each in figures if each.kind != "sum" or read_sum(each.text) is None]
    may_be_sum = list(_read(figures, {"short", "unsure"} if has_number else {"short"}))
    if len(may_be_sum) != 1 or len(may_be_sum) != sum(each.kind != "number" for each in figures):
        return Money(), list(figures)
    return _asked(*may_be_sum[0]), [each for each in figures if each.kind == "number"]


def _read(figures: Sequence[Figures], kinds: set[str]) -> Iterator[tuple[str, Reading]]:
    for each in figures:
        value = read_sum(each.text) if each.kind in kinds else None
        if value is not None:
            yield each.text, in_doubt(value) if each.in_doubt else value


def _settled(told: Sequence[tuple[str, Reading]]) -> Money:
    """The one sum that was told, or all that it can be."""
    texts = " / ".join(dict.fromkeys(text for text, _ in told))
    values = list(dict.fromkeys(meanings(value) for _, value in told))
    rejection = next((value for _, value in told if isinstance(value, Rejection)), None)
    sure = next((value for _, value in told if isinstance(value, Amount)), None)
    if len(values) == 1 and sure is not None and all(isinstance(value, Amount) for _, value in told):
        return Money(amount=sure, text=texts)
    readings = tuple(
        sorted({amount for each in values for amount in each}, key=lambda each: (each.currency, each.value))
    )
    return Money(readings=readings if len(readings) <= MOST_READINGS else (), text=texts, rejection=rejection)


def _asked(text: str, value: Reading) -> Money:
    """A sum that may be no sum at all is asked back even where it can be read in one way only."""
    if isinstance(value, Rejection):
        return Money(text=text, rejection=value)
    return Money(readings=meanings(value), text=text)
