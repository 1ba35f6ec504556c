"""An order in one line. It can also name a saved recipient ("500rb ibu")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.checkout.answers import apply_line, with_known_holder, with_recipient
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.flow import missing
from bot.checkout.parser import (
    LONGEST_LINE,
    OneLine,
    asks_to_send,
    is_question,
    is_talk,
    looks_like_order,
    may_order,
    read_line,
    read_words,
    unknown_person,
    words_of,
)
from bot.core.errors import Rejection
from bot.core.money import Ambiguous, AmountRejected, AmountUnreadable, ForeignCurrency, parse_amount
from bot.core.money.tokens import Token
from bot.core.text import plain
from bot.recipients.banks import display_name
from bot.recipients.model import SavedRecipient, find_by_beginning, recipient_title
from bot.recipients.numbers import clean_number
from bot.settlement.model import PayoutMethod, find_by_pair

ASKS: Final = re.compile(
    r"\A[^\w/]*(?:(?:tolong|tlg|mau|ingin|saya|aku|please|i want to)\s+)*(?:minta|tagih|ask for|request)\b"
    r"(?!\W+(?:tolong|bantu))[\s:,]*",
    re.IGNORECASE,
)
"""A first word that asks others for rupiah. "Minta tolong" means "please"."""

NO_AMOUNT_ASKED: Final = frozenset({Step.HOLDER, Step.REVIEW})
"""Steps whose own answers are never an amount, although their readers may take one for an answer."""

MOST_LEFTOVER: Final = 4
"""Words of a plain message that weren't understood. With more it is talk, and no order."""


@dataclass(frozen=True, slots=True)
class LineReading:
    """What a line says, and which saved recipients or methods of `line` it may mean.

    `beginning` is the part of a recipient's name that was typed, if it isn't the whole name. `reference` is what a
    payment request is for ("meja 12").
    """

    line: OneLine
    recipients: tuple[SavedRecipient, ...] = field(default=(), repr=False)
    beginning: str = ""
    reference: str = field(default="", repr=False)

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

    @property
    def has_amount(self) -> bool:
        """Whether the line names an amount, also one that has to be asked about."""
        return self.line.amount is not None or self.asks_amount

    @property
    def asks_amount(self) -> bool:
        """Whether the user has to be asked which amount is meant, or what their dollars are in rupiah."""
        is_foreign = any(isinstance(each, ForeignCurrency) for each in self.line.rejections)
        return bool(self.line.amount_readings) or is_foreign

    @property
    def has_number(self) -> bool:
        """Whether the line names a number, certain or doubtful."""
        return self.line.number is not None or self.line.doubtful_number is not None

    @property
    def names_recipient(self) -> bool:
        """Whether the line says where the money goes, at least in part."""
        return bool(self.recipients or self.line.method or self.line.method_candidates or self.has_number)


def read_amount_alone(text: str, *, may_be_name: bool) -> LineReading | None:
    """Return the reading of a text that is nothing but an amount, or None. A number without digits `may_be_name`."""
    if may_be_name and not any(map(str.isdecimal, text)):
        return None
    try:
        amount = parse_amount(text)
    except AmountUnreadable:
        return None
    except AmountRejected as rejection:
        return LineReading(OneLine(rejections=(rejection,), amount_text=text))
    if isinstance(amount, Ambiguous):
        return LineReading(OneLine(amount_readings=amount.readings, amount_text=text))
    return LineReading(OneLine(amount=amount, amount_text=text))


def read_order_line(text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]) -> LineReading:
    """Return what `text` says. It means a saved recipient by name only if the rest of the line is an amount.

    In "500rb bca 1234567890 ibu" the name is that of the holder.
    """
    line = read_line(text, methods)
    for matches, rest in _find_mentioned(text, recipients):
        without_name = read_words(rest, methods)
        if _is_amount_at_most(without_name):
            either = tuple(filter(None, (line.method,))) or line.method_candidates
            return LineReading(replace(without_name, method_candidates=either), matches)
    unknown = _unknown_words(line)
    begun = find_by_beginning(recipients, unknown)
    if not begun:
        return LineReading(line)
    return LineReading(replace(line, holder=None, doubtful_holder=None, leftover=()), begun, unknown)


def may_be_order(text: str, recipients: Sequence[SavedRecipient]) -> bool:
    """Return whether a plain message can be an order at all. It is a quick check before `is_order`."""
    return may_order(text) or any(True for _ in _find_mentioned(text, recipients))


def is_order(text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]) -> bool:
    """Return whether a plain message begins an order, even if parts of it are missing or weren't understood.

    It needs two of these: an amount, where the money goes, and the wish to send it. A message that talks about money
    isn't one: an unwanted draft is worse than one more question. Without a list of methods, no bank's name is known.
    Then a number and an amount are enough.
    """
    if looks_like_order(text, methods):
        return True
    reading = read_order_line(text, methods, recipients)
    line, asks = reading.line, asks_to_send(text)
    if reading.recipients and not reading.beginning and reading.has_amount:
        return True
    if not (reading.has_amount or asks) or _is_chat(text, line):
        return False
    if not methods:
        return line.number is not None and line.amount is not None
    person = unknown_person(text, line.leftover)
    if reading.names_recipient or (asks and person and set(line.leftover) <= set(person.split())):
        return True
    return asks and reading.has_amount and (bool(person) or not line.leftover)


def is_part_of_order(text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]) -> bool:
    """Return whether a plain message is a destination's name, or an amount with words that name someone at most.

    It begins an order if nobody has asked for it. `is_order` has to be false. An amount has to be sure.
    """
    line = read_order_line(text, methods, recipients).line
    if line.amount is None or _is_chat(text, line):
        return is_a_name(text, methods, ())
    return bool(methods) and (bool(unknown_person(text, line.leftover)) or not line.leftover)


def _is_chat(text: str, line: OneLine) -> bool:
    return is_talk(text) or len(line.leftover) > MOST_LEFTOVER


def is_a_name(text: str, methods: Sequence[PayoutMethod], known: Sequence[SavedRecipient]) -> bool:
    """Return whether the whole text is the name of a destination or recipient."""
    typed = text.strip().casefold()
    names = (*(recipient_title(each) for each in known), *(name for m in methods for name in (m.name, display_name(m))))
    return typed in {name.casefold() for name in names}


def read_answer(
    draft: OrderDraft, text: str, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]
) -> LineReading | None:
    """Return what `text` says if it is more than an answer to the draft's question, or another answer. Otherwise None.

    The steps read their own answers. A line is read where they can't, or where they would mistake it.
    """
    reading = read_order_line(text, methods, recipients)
    if draft.step is Step.DESTINATION:
        return reading if reading.says_more else None
    if draft.step in NO_AMOUNT_ASKED and not reading.names_recipient and not is_question(text):
        alone = read_amount_alone(text, may_be_name=draft.step is Step.HOLDER)
        if alone is not None:
            return alone
    if is_talk(text):
        return None
    return reading if _says_more_than_asked(draft, text, reading) else None


def _says_more_than_asked(draft: OrderDraft, text: str, reading: LineReading) -> bool:
    line = reading.line
    has_account = reading.has_number and line.method is not None
    match draft.step:
        case Step.NUMBER:
            has_more = line.method or line.amount_readings or line.holder
            return not _is_number(draft, text) and (line.amount is not None or (reading.has_number and bool(has_more)))
        case Step.HOLDER:
            names_destination = line.method is not None or bool(line.method_candidates)
            return has_account or (line.amount is not None and not names_destination)
        case Step.AMOUNT:
            has_amount = line.amount is not None or (reading.asks_amount and not line.leftover)
            return _is_no_amount(text) and (has_account or has_amount)
        case _:
            return reading.says_more


def _is_number(draft: OrderDraft, text: str) -> bool:
    if draft.method is None:
        return False
    try:
        clean_number(draft.method, text)
    except Rejection:
        return False
    return True


def _is_no_amount(text: str) -> bool:
    try:
        parse_amount(text)
    except Rejection:
        return True
    return False


def for_request(reading: LineReading, text: str) -> LineReading:
    """Return the reading of a line of a payment request. The words that are no part of an order are its reference.

    A name without a number may be the payer's, so it is one of these words.
    """
    line, words = reading.line, reading.line.leftover
    if not reading.has_number:
        words = (*words, *(line.holder or line.doubtful_holder or "").split())
        line = replace(line, holder=None, doubtful_holder=None)
    rest = plain(text).replace(line.amount_text, " ", 1)
    reference = " ".join(words if reading.names_recipient else rest.split()).strip(" ,.;:-")
    return replace(reading, line=replace(line, leftover=()), reference=reference if words else "")


def fill_draft(
    draft: OrderDraft, reading: LineReading, methods: Sequence[PayoutMethod], recipients: Sequence[SavedRecipient]
) -> OrderDraft:
    """Return the draft with all that is certain.

    A line without a holder's name doesn't ask for one. A line with words that may be a name does. A payment request
    with a reference is for one payment.
    """
    filled = apply_line(draft, reading.line)
    if filled.terms is not None and reading.reference:
        terms = replace(filled.terms, note=reading.reference, note_asked=True, is_reusable=False)
        filled = replace(filled, terms=terms)
    recipient = reading.recipient
    method = find_by_pair(methods, recipient.method.pair) if recipient is not None else None
    if recipient is not None and method is not None:
        filled = with_recipient(filled, recipient, method)
        return replace(filled, step=Step.AMOUNT) if reading.asks_amount else filled
    if reading.has_number and reading.line.doubtful_holder is None:
        filled = replace(filled, holder_asked=True)
    filled = with_known_holder(filled, recipients)
    return replace(filled, step=Step.AMOUNT if _asks_amount_first(filled, reading) else missing(filled))


def _asks_amount_first(draft: OrderDraft, reading: LineReading) -> bool:
    """Return whether the amount is asked about next. Its readings are known only now, and no draft keeps them."""
    return reading.asks_amount and not (missing(draft) is Step.DESTINATION and reading.has_choice)


def has_vanished(reading: LineReading, methods: Sequence[PayoutMethod]) -> bool:
    """Return whether the line means a saved recipient whose destination is no longer in the live list."""
    return reading.recipient is not None and find_by_pair(methods, reading.recipient.method.pair) is None


def _is_amount_at_most(line: OneLine) -> bool:
    return not (_names_destination(line) or line.holder or line.doubtful_holder or line.leftover)


def _names_destination(line: OneLine) -> bool:
    return bool(line.method or line.method_candidates or line.number or line.doubtful_number)


def _unknown_words(line: OneLine) -> str:
    """Return the words that may begin a recipient's name, in a line without a destination."""
    return "" if _names_destination(line) else line.holder or line.doubtful_holder or " ".join(line.leftover)


def _find_mentioned(
    text: str, recipients: Sequence[SavedRecipient]
) -> list[tuple[tuple[SavedRecipient, ...], list[Token]]]:
    """Return the recipients whose whole name is in `text`, the longest name first, with the words without it."""
    words = words_of(text) if len(text) <= LONGEST_LINE else []
    found = dict[tuple[str, ...], tuple[SavedRecipient, ...]]()
    for each in recipients:
        name = tuple(word.folded for word in words_of(recipient_title(each)))
        if name and _find_place(words, name) is not None:
            found[name] = (*found.get(name, ()), each)
    longest_first = sorted(found.items(), key=lambda item: len(item[0]), reverse=True)
    return [(matches, _without(words, name)) for name, matches in longest_first]


def _find_place(words: Sequence[Token], name: tuple[str, ...]) -> int | None:
    for start in range(len(words) - len(name) + 1):
        if tuple(word.folded for word in words[start : start + len(name)]) == name:
            return start
    return None


def _without(words: Sequence[Token], name: tuple[str, ...]) -> list[Token]:
    """Return the words before and after the name, still separated."""
    start = _find_place(words, name) or 0
    before, after = words[:start], words[start + len(name) :]
    return [*before, *(replace(word, gap=f";{word.gap}") for word in after[:1]), *after[1:]]
