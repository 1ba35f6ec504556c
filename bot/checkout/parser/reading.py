"""One line of text read as an order: each token belongs to one part at most, and what is uncertain is a question.

A run of digits and money words is divided into one number and amounts that have a form. If there is no way to do so, or
more than one, its amount is a question and its number isn't taken: half a number, or a number with digits of the
amount, would send money to a stranger.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from bot.checkout.parser.asides import find_asides, find_foreign, is_count, is_numbered_name
from bot.checkout.parser.doubts import PIECE, Line, find_torn, has_rival, has_unit, is_amount_doubtful
from bot.checkout.parser.names import (
    Destination,
    find_destinations,
    find_name,
    is_destination_unclear,
    may_be_name,
)
from bot.checkout.parser.runs import (
    DIGITS,
    LEAST_DIGITS,
    Division,
    FoundAmount,
    Number,
    Run,
    as_sent,
    could_be_whole,
    find_runs,
    is_usual,
    is_weak_number,
    is_whole,
    takes_any_number,
    written_digits,
)
from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    LEADS_TO_DESTINATION,
    NOT_THIS,
    NUMBER_LABELS,
    PHONE_LABELS,
)
from bot.core.errors import Rejection, Remark
from bot.core.money import Ambiguous, Amount, AmountRejected, ForeignCurrency
from bot.core.money.tokens import LONGEST, SCALES, WHOLE_NUMBER, Token, tokenize
from bot.core.money.typed import (
    Reading,
    ambiguous,
    combine,
    guess,
    is_additive,
    is_below_zero,
    kind_of,
    list_amounts,
    read_phrase,
)
from bot.recipients.numbers import (
    MAX_ACCOUNT_DIGITS,
    NumberRejected,
    clean_number,
    read_links,
    to_international,
)
from bot.recipients.search import MAX_CANDIDATES
from bot.settlement.model import BANK, PayoutMethod

LONGEST_LINE: Final = LONGEST
LONGEST_ORDER: Final = 160
"""Maximum in characters for a plain message. Orders that users type are shorter."""

_MOST_WORDS: Final = 50
_MOST_SHOWN: Final = 8
_MOST_ASKED: Final = 7
"""Tokens of what may be one amount. More of them are talk."""

_TALKS: Final = re.compile(r"[?\uff1f]|https?:|www\.|@|^\s*/|t\.me", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLine:
    """The parts of an order that one line names. A doubtful part is never also a certain one.

    - `method`: the destination, or None and `method_candidates`, the likeliest first.
    - `number`: in the form that is sent if the method is known. Otherwise the unchecked digits as typed. A phone number
      then has its country code, which no bank accepts.
    - `doubtful_number`: a number to confirm. `number_remark` says why. It is None without a method, because the method
      decides which numbers are usual.
    - `amount`: the amount, or None and `amount_readings`, the amounts that `amount_text` may mean, the likeliest first.
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


def words_of(text: str) -> list[Token]:
    """Return the tokens of a line. A link to a chat is the number in it."""
    return tokenize(read_links(text))


def read_line(text: str, methods: Sequence[PayoutMethod]) -> OneLine:
    """Return what `text` ("500rb bca 1234567890 Budi", in any order) says of an order among the live `methods`.

    Never raises, and never guesses. Two numbers are no number, and two amounts are two readings of the amount.
    """
    tokens = words_of(text)
    if not tokens:
        return OneLine(leftover=tuple(text[:LONGEST_LINE].split()[:_MOST_SHOWN]))
    return read_words(tokens, methods)


def read_words(tokens: Sequence[Token], methods: Sequence[PayoutMethod]) -> OneLine:
    """Return what `tokens`, already cut out of a line, say of an order."""
    if len(tokens) > _MOST_WORDS:
        return OneLine(leftover=tuple(token.text for token in tokens[:_MOST_SHOWN]))
    line = _find_parts(tokens, methods)
    method, candidates = _choose_method(line.destinations)
    parts = _Parts(line, method, candidates)
    if not parts.confirms_destination:
        # Nothing confirms the destination's name, so it is offered as a choice.
        parts = _Parts(line, None, candidates or tuple(filter(None, (method,))))
    return parts.put_together()


def looks_like_order(text: str, methods: Sequence[PayoutMethod]) -> bool:
    """Return whether a message without a command, while no draft is open, begins an order.

    It must have an account or mobile number, with a destination or an amount, and no unknown word: an unwanted draft is
    worse than one more question.
    """
    if len(text) > LONGEST_ORDER or _TALKS.search(read_links(text)) or sum(map(str.isdecimal, text)) < LEAST_DIGITS:
        return False
    line = read_line(text, methods)
    if line.leftover:
        return False
    if line.number is not None:
        return line.method is not None or line.amount is not None
    is_rejected = any(isinstance(each, NumberRejected) for each in line.rejections)
    return (line.number_remark is not None or is_rejected) and line.method is not None and line.amount is not None


def _choose_method(places: Sequence[Destination]) -> tuple[PayoutMethod | None, tuple[PayoutMethod, ...]]:
    """Return the one method that all `places` mean, or the methods that they may mean."""
    meant = tuple(dict.fromkeys(method for place in places for method in place.methods))
    if len(meant) == 1 and all(place.is_certain or place.clear for place in places):
        return meant[0], ()
    return None, meant[:MAX_CANDIDATES]


def _find_parts(tokens: Sequence[Token], methods: Sequence[PayoutMethod]) -> Line:
    """Return what names the destination, and what is neither the order's number nor its amount."""
    asides, unclear = find_asides(tokens)
    counts = {at for at in range(len(tokens)) if at not in asides and is_count(tokens, at)}
    foreign = find_foreign(tokens, asides)
    taken = asides | unclear | counts | foreign.places
    runs = list(find_runs(tokens, taken))
    taken |= {place for run in runs for place in run}
    taken |= {place for pieces in _find_broken_units(tokens) for place in pieces}
    free = [place not in taken and _is_word(tokens, place) for place in range(len(tokens))]
    destinations = find_destinations(tokens, free, methods)
    for each in destinations:
        free[each.start : each.stop] = [False] * (each.stop - each.start)
    unclear |= {at for at, token in enumerate(tokens) if token.text.isnumeric() and kind_of(token) == "."}  # "²"
    return Line(
        tokens=tokens,
        asides=asides,
        unclear=unclear,
        counts=counts,
        foreign=foreign,
        runs=runs,
        free=free,
        destinations=destinations,
    )


def _is_word(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the token can be part of a name. An article before a unit can't, nor a letter behind digits."""
    token = tokens[place]
    after = tokens[place + 1] if place + 1 < len(tokens) and tokens[place + 1].joined else None
    is_article = token.folded in {"a", "se"} and after is not None and len(after.text) > 1 and kind_of(after) in "umht"
    is_glued = len(token.text) <= PIECE and place > 0 and tokens[place - 1].digits != "" and token.gap == ""
    return any(map(str.isalpha, token.text)) and not is_article and not is_glued


def _find_broken_units(tokens: Sequence[Token]) -> dict[range, Token]:
    """Return the places of words behind digits that are a unit together: "523 r b", or "R IBU" behind an amount."""
    found = dict[range, Token]()
    for place in range(1, len(tokens)):
        pieces = range(place, min(place + 2, len(tokens)))
        digits = len(tokens[place - 1].digits)
        is_short = all(len(tokens[at].text) <= PIECE for at in pieces) or (len(pieces) > 1 and digits < LEAST_DIGITS)
        unit = replace(tokens[place], text="".join(tokens[at].text for at in pieces), gap=" ")
        if digits and is_short and all(tokens[at].joined for at in pieces) and unit.folded in SCALES:
            found[pieces] = unit
    return found


@dataclass(frozen=True, slots=True)
class _Decided:
    """The number of a line, certain or doubtful, or why it is rejected."""

    number: str | None = None
    doubtful: str | None = None
    remark: Remark | None = None
    rejection: Rejection | None = None


class _Parts:
    """The parts of a line for one destination, or for none yet."""

    def __init__(self, line: Line, method: PayoutMethod | None, candidates: Sequence[PayoutMethod]) -> None:
        self._found, self._tokens = line.for_method(method), line.tokens
        self._method, self._candidates = method, tuple(candidates)
        self._guesses, self._guessed, self._apart = list[Ambiguous](), list[range](), list[Token]()
        self._has_bank = any(each.kind == BANK for each in ((method,) if method else candidates))
        for places in line.runs:
            self._read_run(Run(self._tokens, places, method, self._found.labels(places.start)))
        self._drop_bare_amounts()
        self._doubt_amounts_beside_numbers()
        self._number = self._decide_number()
        self._name = find_name(self._tokens, line.free, find_torn(self._found))

    def _read_run(self, run: Run) -> None:
        """Sort the tokens of a run into numbers, amounts, and what can't be read."""
        found, start = self._found, run.places.start
        if len(run.places) == 1 and found.is_code(start) and ACCOUNT_LABELS.isdisjoint(run.labels):
            found.known.add(start)
            return
        divisions = run.divide()
        number = divisions[0].number if len(divisions) == 1 else None
        is_else = not NOT_THIS.isdisjoint(run.labels) or (self._has_bank and not PHONE_LABELS.isdisjoint(run.labels))
        is_else = is_else and (number is None or number.places.start == start)  # "jangan 5rb 1234567890"
        if len(divisions) != 1 or (number and is_else and (self._method is None or len(number.places) > 1)):
            is_long = len(self._tokens[start].digits) >= LEAST_DIGITS
            is_known = is_else and is_long and self._method is not None and len(run.places) == 1
            found.known |= set(run.places) if is_known else set()
            if not is_known:
                self._read_unclear(run, divisions)
            return
        if number is not None and is_else:
            found.known |= set(number.places)
        elif number is not None:
            found.numbers.append(number)
        found.amounts += divisions[0].amounts if number else _as_labelled(run, divisions[0].amounts)

    def _read_unclear(self, run: Run, divisions: Sequence[Division]) -> None:
        """Take a number that is clear by itself, and ask about the rest."""
        places, tokens = run.places, self._tokens
        pieces = tokens[places.start : places.stop]
        if not divisions and not run.has_number and is_weak_number(pieces):
            self._found.numbers.append(Number(places, written_digits(pieces), is_sure=False))
            return
        whole = {at for at in (places.start, places.stop - 1) if is_whole(tokens[at], self._method)}
        if len(whole) == 1 and not divisions:
            at = whole.pop()
            self._found.numbers.append(Number(range(at, at + 1), written_digits([tokens[at]])))
            places = range(places.start + (at == places.start), places.stop - (at != places.start))
        self._found.strays |= set(places)
        phrase = tokens[places.start : places.stop]
        kinds = "".join(map(kind_of, phrase))
        self._apart += phrase if kinds in {"s", "b"} else ()
        if not kinds.strip(DIGITS) and sum(len(token.digits) for token in phrase) >= LEAST_DIGITS:
            return
        amounts = [amount for each in divisions for one in each.amounts for amount in list_amounts(one.value)]
        asked = ambiguous(amounts) or guess([token for token in phrase if len(token.digits) < WHOLE_NUMBER])
        if asked is not None:
            self._guesses.append(asked)
            self._guessed.append(places)

    def _drop_bare_amounts(self) -> None:
        """Drop small numbers without a unit if another amount is there. They may count something."""
        found = self._found
        if any(not each.is_bare for each in found.amounts):
            found.strays |= {place for each in found.amounts if each.is_bare for place in each.places}
            found.amounts = [each for each in found.amounts if not each.is_bare]

    def _doubt_amounts_beside_numbers(self) -> None:
        """Ask about an amount of digits alone beside a number that may go on in it.

        Such a number has an unusual length, or can have any length and is in pieces or has dots.
        """
        may_go_on = [each for each in self._found.numbers if not each.is_sure or self._is_open(each)]
        beside = {at for each in may_go_on for at in (each.places.start - 1, each.places.stop)}
        self._found.amounts = [
            _as_question(each)
            if (beside.intersection(each.places) and not has_unit(self._found, each)) or self._completes_number(each)
            else each
            for each in self._found.amounts
        ]

    def _completes_number(self, found: FoundAmount) -> bool:
        """Return whether a number before the amount needs its first digits: "hp 0811 1094 3365 juta"."""
        first = self._tokens[found.places.start].digits
        return any(
            each.places.stop == found.places.start
            and not could_be_whole(each.digits, self._method)
            and could_be_whole(f"{each.digits}{first}", self._method)
            for each in self._found.numbers
        )

    def _is_open(self, number: Number) -> bool:
        is_in_pieces = len(number.places) > 1 or "." in self._tokens[number.places.start].text
        return is_in_pieces and takes_any_number(self._method)

    def _decide_number(self) -> _Decided:
        """Return the number. If there are two, or its neighbours may belong to it, none is taken."""
        sure = [each for each in self._found.numbers if each.is_sure]
        unsure = [each for each in self._found.numbers if not each.is_sure]
        chosen = [*sure, *filter(self._is_rival, unsure)] or unsure
        if len({as_sent(each.digits, self._method) for each in chosen}) != 1:
            self._found.strays |= {place for each in self._found.numbers for place in each.places}
            return _Decided()
        number = chosen[0]
        self._found.strays |= {place for each in unsure if each not in chosen for place in each.places}
        if has_rival(self._found, number):
            self._found.strays |= {place for each in chosen for place in each.places}
            return _Decided()
        return self._check(number)

    def _is_rival(self, number: Number) -> bool:
        """Return whether a number of an unusual length may be the account, although another one is usual."""
        return len(number.digits) >= LEAST_DIGITS if self._method is None else is_usual(self._method, number.digits)

    def _check(self, number: Number) -> _Decided:
        if len(number.digits) > MAX_ACCOUNT_DIGITS:
            arguments = {"longest": MAX_ACCOUNT_DIGITS, "actual": len(number.digits)}
            return _Decided(rejection=NumberRejected("recipients.number.too_long", **arguments))
        if self._method is None:
            return self._check_phone(number)
        try:
            cleaned = clean_number(self._method, number.digits)
        except Rejection as refused:
            return _Decided(rejection=refused)
        if cleaned.remark is None and number.is_sure:
            return _Decided(number=cleaned.number)
        return _Decided(doubtful=cleaned.number, remark=cleaned.remark)

    def _check_phone(self, number: Number) -> _Decided:
        """Return the number without a destination. A phone's has its country's code, which no bank accepts."""
        labels = self._found.labels(number.places.start)
        if not PHONE_LABELS.isdisjoint(labels) and ACCOUNT_LABELS.isdisjoint(labels):
            telephone = to_international(number.digits)
            self._found.strays |= set() if telephone else set(number.places)
            return _Decided(number=telephone)
        return _Decided(number=number.digits) if number.is_sure else _Decided(doubtful=number.digits)

    @property
    def confirms_destination(self) -> bool:
        """Whether the line clearly says where the money goes.

        A misspelt name needs a number that is usual for that bank. So does a name that is also a person's or a
        place's, if the number could be any bank's and the line names no other holder.
        """
        places = self._found.destinations
        if any(is_destination_unclear(self._tokens, place) for place in places):
            return False
        if not all(place.is_certain for place in places):
            return self._number.number is not None
        if len(places) != 1 or self._number.number is None or not may_be_name(self._tokens, places[0]):
            return True
        is_led = places[0].start > 0 and self._tokens[places[0].start - 1].folded in LEADS_TO_DESTINATION
        has_name = self._name.holder is not None or self._name.doubtful is not None
        return has_name or is_led or not all(map(takes_any_number, places[0].methods))

    def put_together(self) -> OneLine:
        """Return what the line says."""
        number, name, found = self._number, self._name, self._found
        value = self._decide_amount()
        asked = {at for places in self._guessed if len(places) < _MOST_ASKED for at in places}
        unread = found.strays - {at for at in asked if len(self._tokens[at].digits) < LEAST_DIGITS}
        unread |= found.known | found.asides | found.counts | set(name.leftover)
        unread -= {at for at in unread if found.is_code(at) or is_numbered_name(self._tokens, at)}
        rejections = (number.rejection, value if isinstance(value, AmountRejected) else None, name.rejection)
        return OneLine(
            method=self._method,
            method_candidates=self._candidates,
            number=number.number,
            doubtful_number=number.doubtful,
            number_remark=number.remark,
            amount=value if isinstance(value, Amount) else None,
            amount_readings=value.readings if isinstance(value, Ambiguous) else (),
            amount_text="" if value is None or found.foreign.names_amount else self._text_of_amount(),
            holder=name.holder,
            doubtful_holder=name.doubtful,
            rejections=tuple(each for each in rejections if each is not None),
            leftover=tuple(_join(self._tokens, sorted(unread - found.foreign.places))),
        )

    def _decide_amount(self) -> Reading | None:
        """Return the amount, or the question which is meant."""
        found = self._found
        if found.foreign.names_amount:
            return ForeignCurrency()
        starts = [each.places.start for each in found.amounts]
        if any(is_below_zero(self._tokens[at], found.get(at - 1)) for at in starts):
            return AmountRejected("core.amount.not_positive")
        between = [self._tokens[one.places.stop : other.places.start + 1] for one, other in pairwise(found.amounts)]
        is_added = any(is_additive(token) for tokens in between for token in tokens)
        units = {pieces.start: unit for pieces, unit in _find_broken_units(self._tokens).items()}
        values = [self._add_unit(each, units.get(each.places.stop)) for each in found.amounts]
        for unit in self._apart:  # "sats, 25000"
            phrases = [[*self._phrase(each.places), replace(unit, gap=" ")] for each in found.amounts]
            values += [value for phrase in phrases if list_amounts(value := read_phrase(phrase)) and value is not None]
        value = combine([*values, *self._guesses], is_added=is_added)
        is_doubtful = bool(self._guesses) or is_amount_doubtful(
            found, is_number_doubtful=self._number.doubtful is not None
        )
        return Ambiguous((value,)) if isinstance(value, Amount) and is_doubtful else value

    def _add_unit(self, found: FoundAmount, unit: Token | None) -> Reading:
        """Return what the amount means, first with the broken unit behind it: "1150 R IBU"."""
        whole = None if unit is None else read_phrase([*self._phrase(found.places), unit])
        return found.value if whole is None else ambiguous((*list_amounts(whole), *list_amounts(found.value))) or whole

    def _phrase(self, places: range) -> Sequence[Token]:
        return self._tokens[places.start : places.stop]

    def _text_of_amount(self) -> str:
        places = sorted((*(each.places for each in self._found.amounts), *self._guessed), key=lambda each: each.start)
        texts = (
            "".join(
                f"{token.gap if at else ''}{token.mark if not at else ''}{token.text}"
                for at, token in enumerate(self._phrase(each))
            )
            for each in places
        )
        return " / ".join(dict.fromkeys(texts))


def _as_labelled(run: Run, amounts: Sequence[FoundAmount]) -> list[FoundAmount]:
    """Return the amounts, as a question if a label says that the number follows ("rek 500000")."""
    is_labelled = not (NUMBER_LABELS.isdisjoint(run.labels[:1]) and ACCOUNT_LABELS.isdisjoint(run.labels))
    return [_as_question(each) if is_labelled else each for each in amounts]


def _as_question(found: FoundAmount) -> FoundAmount:
    return replace(found, value=ambiguous(list_amounts(found.value)) or found.value)


def _join(tokens: Sequence[Token], places: Sequence[int]) -> Iterator[str]:
    """Yield the words at `places`, those that were written together as one."""
    text = ""
    for at, place in enumerate(places):
        is_same = at > 0 and places[at - 1] == place - 1 and tokens[place].gap == ""
        if text and not is_same:
            yield text
        text = f"{text}{tokens[place].text}" if is_same else tokens[place].text
    if text:
        yield text
