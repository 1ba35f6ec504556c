"""The number and the amount of a line, out of all figures in it: one of each, or a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.errors import Rejection, Remark
from bot.domain.money import Amount
from bot.domain.money.vocabulary import CURRENCIES, SCALES
from bot.domain.oneline.figures import digits_of, is_figures, is_sum
from bot.domain.oneline.runs import Figures, divide
from bot.domain.oneline.sums import Reading, Sum, meanings, read_sum
from bot.domain.oneline.words import Word
from bot.domain.payout import PayoutMethod, clean_number
from bot.domain.payout.numbers import LONGEST_ACCOUNT

MOST_READINGS: Final = 4
_UNITS: Final = {*CURRENCIES, *(scale for scale in SCALES if len(scale) > 1)}


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a line, sure or doubtful; or why it is refused."""

    number: str | None = None
    doubtful: str | None = None
    doubt: Remark | None = None
    rejection: Rejection | None = None


@dataclass(frozen=True, slots=True)
class Money:
    """The amount of a line; or the readings of `text`; or why it is refused."""

    amount: Amount | None = None
    readings: tuple[Amount, ...] = ()
    text: str = ""
    rejection: Rejection | None = None


def read_runs(
    words: Sequence[Word], sums: Sequence[Sum], method: PayoutMethod | None
) -> tuple[list[Figures], list[str]]:
    """All figures without a unit, and the words of those runs that can be divided in more than one way."""
    runs = list(_runs(words, sums))
    sure_sums = sum(len(run) == 1 and is_sum(words[run[0]].text) for run in runs)
    figures, unclear = list[Figures](), list[str]()
    for run in runs:
        texts = [words[place].text for place in run]
        others = len(sums) + sure_sums - (len(run) == 1 and is_sum(texts[0]))
        divided = None if _has_loose_unit(words, sums, run) else _divide(texts, method, has_sum=others > 0)
        if divided is None:
            unclear += texts
        else:
            figures += divided
    return figures, unclear


def _divide(texts: Sequence[str], method: PayoutMethod | None, *, has_sum: bool) -> Sequence[Figures] | None:
    return divide(texts, has_sum=has_sum, fits=None if method is None else lambda number: _is_usual(method, number))


def _is_usual(method: PayoutMethod, number: str) -> bool:
    try:
        return clean_number(method, number).remark is None
    except Rejection:
        return False


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
    """Whether a unit beside several figures belongs to one of them, but nobody can say how much of it."""
    taken = {place for each in sums for place in range(each.start, each.stop)}
    beside = [place for place in (run.start - 1, run.stop) if 0 <= place < len(words) and place not in taken]
    return len(run) > 1 and any(words[place].folded in _UNITS for place in beside)


def decide_number(figures: Sequence[Figures], method: PayoutMethod | None) -> tuple[Number, list[Figures]]:
    """The number, and the figures that are still without a meaning. Of two numbers none is taken."""
    sure = [each for each in figures if each.kind == "number"]
    unsure = [each for each in figures if each.kind == "unsure"]
    chosen = sure or unsure
    if len({_as_sent(each.number, method) for each in chosen}) != 1:
        return Number(), list(figures)
    rest = [each for each in figures if each not in chosen]
    return _checked(chosen[0].number, method, sure=bool(sure)), rest


def _as_sent(number: str, method: PayoutMethod | None) -> str:
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
) -> tuple[Money, list[str]]:
    """The amount, and the texts of the figures that stay without a meaning.

    `loose`: a currency that is named apart from the sum, which may be in it therefore.
    """
    told = [(each.text, each.value) for each in sums] + list(_read(figures, {"sum"}))
    if loose is not None:
        told += [(text, other) for text, _ in told if (other := read_sum(f"{text} {loose}")) is not None]
    if told:
        return _settled(told), [each.text for each in figures if each.kind != "sum"]
    may_be_sum = list(_read(figures, {"short", "unsure"} if has_number else {"short"}))
    if len(may_be_sum) != 1 or len(may_be_sum) != sum(each.kind != "number" for each in figures):
        return Money(), [each.text for each in figures]
    return _asked(*may_be_sum[0]), [each.text for each in figures if each.kind == "number"]


def _read(figures: Sequence[Figures], kinds: set[str]) -> Iterator[tuple[str, Reading]]:
    for each in figures:
        value = read_sum(each.text) if each.kind in kinds else None
        if value is not None:
            yield each.text, value


def _settled(told: Sequence[tuple[str, Reading]]) -> Money:
    """The one sum that was told, or all that it can be."""
    texts = " / ".join(dict.fromkeys(text for text, _ in told))
    values = list(dict.fromkeys(meanings(value) for _, value in told))
    rejection = next((value for _, value in told if isinstance(value, Rejection)), None)
    first = told[0][1]
    if len(values) == 1 and isinstance(first, Amount):
        return Money(amount=first, text=texts)
    readings = tuple(
        sorted({amount for each in values for amount in each}, key=lambda each: (each.currency, each.value))
    )
    return Money(readings=readings if len(readings) <= MOST_READINGS else (), text=texts, rejection=rejection)


def _asked(text: str, value: Reading) -> Money:
    """A sum that may be no sum at all is asked back even where it can be read in one way only."""
    if isinstance(value, Rejection):
        return Money(text=text, rejection=value)
    return Money(readings=meanings(value), text=text)
