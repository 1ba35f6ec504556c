"""The holder's name: what is left of a line when all else is understood, if that reads like one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.errors import Rejection
from bot.domain.money.vocabulary import CURRENCIES, SCALES
from bot.domain.oneline.vocabulary import FILLERS, GENERIC, LEADS_TO_NAME, POLITE_PAIRS, TALK, TITLES
from bot.domain.oneline.words import Word
from bot.domain.payout import clean_holder

LONGEST_NAME: Final = 5
"""Words; more than these are a sentence."""


@dataclass(frozen=True, slots=True)
class Name:
    """The holder's name, or why it is refused, and the words that nobody understood."""

    holder: str | None = None
    rejection: Rejection | None = None
    leftover: tuple[str, ...] = ()


def find_name(words: Sequence[Word], free: Sequence[bool], torn: Collection[int] = ()) -> Name:
    """The name among the `free` words. What follows "a/n" is it; otherwise a single stretch; of several, none.

    `torn`: words beside what may be a bank or the rest of their name ("Siti Mega"); half a name is none.
    """
    stretches, led = _stretches(words, free)
    chosen = led or stretches
    name: tuple[Word, ...] = chosen[0] if len(chosen) == 1 else ()
    others = tuple(word.text for stretch in stretches if stretch is not name for word in stretch)
    if not _reads_like_name(name) or any(words[place] is word for place in torn if place < len(words) for word in name):
        return Name(leftover=(*others, *(word.text for word in name)))
    text = " ".join(word.text for word in name)
    try:
        return Name(holder=clean_holder(text), leftover=others)
    except Rejection as refused:
        return Name(rejection=refused, leftover=others)


def _stretches(words: Sequence[Word], free: Sequence[bool]) -> tuple[list[tuple[Word, ...]], list[tuple[Word, ...]]]:
    """The stretches of words that mean something unknown, and those of them that a word leads to as names."""
    all_of_them, led = list[tuple[Word, ...]](), list[tuple[Word, ...]]()
    place = 0
    while place < len(words):
        stop = _end(words, free, place)
        stretch, is_led = tuple(words[place:stop]), place > 0 and words[place - 1].folded in LEADS_TO_NAME
        if stretch and (is_led or not _is_money(stretch)):
            all_of_them.append(stretch)
            led += [stretch] if is_led else []
        place = max(stop, place + 1)
    return all_of_them, led


def _end(words: Sequence[Word], free: Sequence[bool], start: int) -> int:
    stop = start
    while stop < len(words) and free[stop] and not _is_around(words, stop):
        if stop > start and words[stop].parted:
            break
        stop += 1
    return stop


def _is_money(stretch: tuple[Word, ...]) -> bool:
    """Whether this is the word for funds; it names the e-wallet, too, but not beside a bank."""
    return len(stretch) == 1 and stretch[0].folded == "dana"


def _is_around(words: Sequence[Word], place: int) -> bool:
    """Whether this word only leads to others, or is politeness."""
    folded = words[place].folded
    if folded in FILLERS or folded in GENERIC or folded in LEADS_TO_NAME or folded in CURRENCIES:
        return True
    before = words[place - 1].folded if place else ""
    after = words[place + 1].folded if place + 1 < len(words) else ""
    return (before, folded) in POLITE_PAIRS or (folded, after) in POLITE_PAIRS


def _reads_like_name(stretch: Sequence[Word]) -> bool:
    if not 0 < len(stretch) <= LONGEST_NAME or any(_is_no_name(word) for word in stretch):
        return False
    if all(word.folded in TITLES for word in stretch):
        return False
    return any(sum(character.isalpha() for character in word.text) > 1 for word in stretch)


def _is_no_name(word: Word) -> bool:
    if word.odd or word.text[:1].isdecimal():
        return True
    return word.folded in TALK or (word.folded in SCALES and len(word.text) > 1)
