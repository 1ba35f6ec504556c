"""An order in one line. It can also name a saved recipient ("500rb ibu")."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.checkout.answers import apply_line, with_known_holder, with_recipient
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.parser import LONGEST_LINE, OneLine, Word, looks_like_order, read_line, read_words, words_of
from bot.recipients.model import SavedRecipient, find_by_beginning, find_current_method, recipient_title
from bot.settlement.model import PayoutMethod

LEAST_DIGITS: Final = 8
"""A line without a saved recipient needs a number, which has at least so many digits."""


@dataclass(frozen=True, slots=True)
class LineReading:
    """What a line says, and which saved recipients or methods of `line` it may mean.

    `beginning` is the part of a recipient's name that was typed, if it isn't the whole name.
    """

    line: OneLine
    recipients: tuple[SavedRecipient, ...] = field(default=(), repr=False)
    beginning: str = ""

    @property
    def recipient(self) -> SavedRecipient | None:
        """The saved recipient that is certainly meant, or None."""
        is_clear = len(self.recipients) == 1 and not self.beginning and not self.line.method_candidates
        return self.recipients[0] if is_clear else None

    @property
    def has_choice(self) -> bool:
        """Whether the user has to choose the destination."""
        return bool(self.line.method_candidates) or (bool(self.recipients) and self.recipient is None)

    @property
    def says_more(self) -> bool:
        """Whether the line says more than a destination's name."""
        line = self.line
        return bool(line.number or line.doubtful_number or line.amount or line.amount_readings or line.rejections)


def read_order_line(text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]) -> LineReading:
    """Return what `text` says. It means a saved recipient by name only if the rest of the line is an amount.

    In "500rb bca 1234567890 ibu" the name is that of the holder.
    """
    line = read_line(text, methods)
    for matches, rest in _find_mentioned(text, recipients):
        left = read_words(rest, methods)
        if _is_sum_at_most(left):
            either = tuple(filter(None, (line.method,))) or line.method_candidates
            return LineReading(replace(left, method_candidates=either), matches)
    unknown = _unknown_words(line)
    begun = find_by_beginning(recipients, unknown)
    if not begun:
        return LineReading(line)
    return LineReading(replace(line, holder=None, doubtful_holder=None, leftover=()), begun, unknown)


def may_be_order(text: str, recipients: Sequence[SavedRecipient]) -> bool:
    """Return whether a plain message can be an order at all. It is a quick check before `is_order`."""
    return sum(map(str.isdecimal, text)) >= LEAST_DIGITS or any(True for _ in _find_mentioned(text, recipients))


def is_order(text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]) -> bool:
    """Return whether a plain message begins an order: also by an amount and a saved recipient's name.

    Without a list of methods, no bank's name is known. Then a number and an amount are enough.
    """
    if looks_like_order(text, methods):
        return True
    reading = read_order_line(text, methods, recipients)
    if not methods and reading.line.number is not None and reading.line.amount is not None:
        return True
    has_sum = reading.line.amount is not None or bool(reading.line.amount_readings)
    return bool(reading.recipients) and not reading.beginning and has_sum


def fill_draft(
    draft: OrderDraft, reading: LineReading, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]
) -> OrderDraft:
    """Return the draft with all that is certain.

    A line without a holder's name doesn't ask for one. A line with words that may be a name does.
    """
    filled = apply_line(draft, reading.line)
    recipient = reading.recipient
    method = find_current_method(recipient, methods) if recipient is not None else None
    if recipient is not None and method is not None:
        return with_recipient(filled, recipient, method)
    has_number = reading.line.number is not None or reading.line.doubtful_number is not None
    if has_number and reading.line.doubtful_holder is None:
        filled = replace(filled, holder_asked=True)
    filled = with_known_holder(filled, recipients)
    return replace(filled, step=missing(filled))


def has_vanished(reading: LineReading, methods: Sequence[PayoutMethod]) -> bool:
    """Return whether the line means a saved recipient whose destination is no longer in the live list."""
    return reading.recipient is not None and find_current_method(reading.recipient, methods) is None


def _is_sum_at_most(line: OneLine) -> bool:
    return not (_names_destination(line) or line.holder or line.doubtful_holder or line.leftover)


def _names_destination(line: OneLine) -> bool:
    return bool(line.method or line.method_candidates or line.number or line.doubtful_number)


def _unknown_words(line: OneLine) -> str:
    """Return the words that may begin a recipient's name, in a line without a destination."""
    return "" if _names_destination(line) else line.holder or line.doubtful_holder or " ".join(line.leftover)


def _find_mentioned(
    text: str, recipients: Sequence[SavedRecipient]
) -> list[tuple[tuple[SavedRecipient, ...], list[Word]]]:
    """Return the recipients whose whole name is in `text`, the longest name first, with the words without it."""
    words = words_of(text) if len(text) <= LONGEST_LINE else []
    found = dict[tuple[str, ...], tuple[SavedRecipient, ...]]()
    for each in recipients:
        name = tuple(word.folded for word in words_of(recipient_title(each)))
        if name and _find_place(words, name) is not None:
            found[name] = (*found.get(name, ()), each)
    longest_first = sorted(found.items(), key=lambda item: len(item[0]), reverse=True)
    return [(matches, _without(words, name)) for name, matches in longest_first]


def _find_place(words: Sequence[Word], name: tuple[str, ...]) -> int | None:
    for start in range(len(words) - len(name) + 1):
        if tuple(word.folded for word in words[start : start + len(name)]) == name:
            return start
    return None


def _without(words: Sequence[Word], name: tuple[str, ...]) -> list[Word]:
    """Return the words before and after the name, still separated."""
    start = _find_place(words, name) or 0
    before, after = words[:start], words[start + len(name) :]
    return [*before, *(replace(word, parted=True) for word in after[:1]), *after[1:]]
