"""What else in a line may be its number: more digits of the same one, or another that nobody understood."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Final

from bot.checkout.parser.deciding import LEADING, LEAST_OF_RIVAL, Number, is_usual, takes_any_number
from bot.checkout.parser.figures import SHORTEST_NUMBER, digits_of, is_figures, is_sum
from bot.checkout.parser.runs import could_be_whole
from bot.checkout.parser.sums import Sum
from bot.checkout.parser.vocabulary import ACCOUNT_LABELS, ASIDE_LABELS, EITHER, NOT_THIS, NUMBER_LABELS, PHONE_LABELS
from bot.checkout.parser.words import Word, meant_digits
from bot.settlement.model import PayoutMethod

_MOST_PIECES: Final = 3
"""Words on each side of a number that may be more of it."""


def has_rival(
    words: Sequence[Word],
    sums: Sequence[Sum],
    number: Number,
    unread: Collection[int],
    method: PayoutMethod | None,
    *,
    in_doubt: Collection[int] = (),
) -> bool:
    """Whether something else than `number` may be the number that is meant.

    These are figures of which nobody knows what they are, with digits enough for a number between them; what a word
    such as "rek" leads to, or beside a phone's number "no" as well; and whatever is on the other side of an "atau".
    What follows a word such as "kode" may be that code, and not the number. `in_doubt`: figures that may be the sum.
    """
    if not number.places:
        return False
    taken = {place for each in sums for place in range(each.start, each.stop)} | set(number.places)
    if any(sum(map(_digits, each)) >= LEAST_OF_RIVAL for each in _in_pieces(words, {*unread, *in_doubt})):
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
    """Whether a word such as "hp" says that `number` is a phone's, and none that it is an account's."""
    if not number.places:
        return False
    labels = _labels(words, number.places.start)
    return not PHONE_LABELS.isdisjoint(labels) and ACCOUNT_LABELS.isdisjoint(labels)


def _may_be_account(words: Sequence[Word], taken: Collection[int]) -> Iterator[bool]:
    """Of each word that isn't taken, whether it has digits enough for an account's number."""
    return (place not in taken and _digits(word) >= LEAST_OF_RIVAL for place, word in enumerate(words))


def _in_pieces(words: Sequence[Word], unread: Collection[int]) -> Iterator[list[Word]]:
    """Figures side by side that aren't understood, whatever marks are in them: "6860 3783 49!60 3", "7/1; 5.50, 9, 34".

    One alone was weighed before.
    """
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
    """Whether figures that aren't taken follow the word at `place`, which says that the number follows."""
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
    """Whether the word at `place` leads to a code, with a mark between, or the one before it does ("resi JX{12…")."""
    if place < 0:
        return False
    if words[place].folded in ASIDE_LABELS:
        return True
    is_between = place in unread and not words[place].parted and not _digits(words[place])
    return is_between and place > 0 and words[place - 1].folded in ASIDE_LABELS


def _labels(words: Sequence[Word], place: int) -> set[str]:
    """The words that lead to the one at `place`."""
    return {word.folded.strip(".") for word in words[_before_labels(words, place) + 1 : place]}


def _before_labels(words: Sequence[Word], place: int) -> int:
    """The place before the words that lead to the one at `place`; -1 where there is none."""
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
    """Whether figures beside the number may be the rest of it, or all of it: "0812345678 90", "3733;7308528857".

    Nobody understood them, or only a mark cuts them from it, or both have dots in them ("707.280.467.5; 49.684"); and
    the number would be as usual with them. `has_sum`: one sum is sure, so figures that are a sum are that one.
    """
    if number.doubt is not None or not number.places:
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

    first = list(takewhile(bool, (piece(before - step, before - step + 1) for step in range(_MOST_PIECES))))[::-1]
    last = list(takewhile(bool, (piece(after + step, after + step) for step in range(_MOST_PIECES))))
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
    """The digits that may belong to the number beside them; a few may even where they are taken for a sum.

    `beside`: the character that is next to the number.
    """
    digits = digits_of(word.text)
    if not digits or (word.aside and not word.text.isdecimal()):
        return ""
    if any(map(str.isalpha, word.text)):
        return meant_digits(word.text) if is_unread and meant_digits(beside) else ""
    if has_sum and is_sum(word.text):
        return digits if is_unread else ""
    may_be = is_unread or is_cut or (is_figures(word) and (not has_sum or len(digits) < SHORTEST_NUMBER))
    return digits if may_be else ""
