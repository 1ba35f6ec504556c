"""The holder's name: what is left of a line when all else is understood, if that reads like one."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.parser.sums import has_loose_word
from bot.checkout.parser.vocabulary import (
    ABOUT,
    ASIDE_LABELS,
    BUSINESS,
    COUNTED,
    EACH,
    EVERYDAY_WORDS,
    FILLERS,
    GENERIC,
    KNOWN_NAMES,
    LEADS_APART,
    LEADS_TO_NAME,
    NOT_THIS,
    POLITE_PAIRS,
    SUM_OF_ELSE,
    TALK,
    TITLES,
    WORDS_TOO,
)
from bot.checkout.parser.words import Word
from bot.core.errors import Rejection
from bot.core.money.vocabulary import CURRENCIES
from bot.recipients.holders import clean_holder

LONGEST_NAME: Final = 5
"""Words; more than these are a sentence."""

_ENDS_NAME: Final = ASIDE_LABELS | SUM_OF_ELSE | ABOUT | EACH
"""Words that begin something else, also behind a name that another word leads to."""

_ENDS_NAME_WITHIN: Final = _ENDS_NAME | NOT_THIS
"""The same behind its first word, which may be a doctor's "dr" ("a.n. dr Budi dr BCA")."""

_NO_NAME: Final = (EVERYDAY_WORDS | TALK | COUNTED | _ENDS_NAME) - TITLES - {"hari"}
_PARTICLES: Final = (
    TITLES | BUSINESS | frozenset({"bin", "binti", "bt", "al", "el", "van", "de", "der", "da", "dr", "ir"})
)
"""Words that are written small within a name."""

_NEVER_ALONE: Final = TITLES | frozenset({"dr", "drg", "drs", "ir", "hj", "pt", "cv", "ud", "pd"})
_NAMED: Final = re.compile(
    r"(?!me[lmnr]|ber|ter)\w{2,}(?:wati|ningsih|nengsih|yanto|yanti|yono|yadi|uddin|udin|ullah|iyah|ansyah|asari|iawan|wijaya|kusuma|atmaja)"
    r"|(?!me[lmnr]|ber|ter)\w{3,}(?:anto|anti|diana|liana|riana|tono|sono|saputra|saputri|putra|putri|hardjo|dinata|kusumo)"
)
"""How many names end: "Setyawati", "Rusmiyanto"."""

_FORMS: Final = re.compile(r"me(?:ng|ny|mb|mp|nj|nc|nd|nt|ns)\w{3,}|\w{4,}nya|\w{4,}kan|pe(?:m|n|ng|r)\w{4,}an")
"""Verbs and things in Indonesian, by how they begin and end: "mengirim", "uangnya", "transferkan", "pembayaran"."""


@dataclass(frozen=True, slots=True)
class Name:
    """The holder's name, or why it is refused, and the places of the words that nobody understood.

    `doubtful`: what may be a name, or words that we don't know.
    """

    holder: str | None = None
    doubtful: str | None = None
    rejection: Rejection | None = None
    leftover: tuple[int, ...] = ()


def find_name(words: Sequence[Word], free: Sequence[bool], torn: Collection[int] = ()) -> Name:
    """The name among the `free` words: what follows "a/n"; otherwise the only stretch that can be one.

    `torn`: words beside what may be a bank or the rest of their name ("Siti Mega"); half a name is none.
    """
    stretches, led = _stretches(words, free)
    if len(led) == 1:
        name = _until_something_else(words, led[0])
    else:
        unknown = [each for each in stretches if not all(_is_no_name(words[place]) for place in each)]
        name = unknown[0] if len(unknown) == 1 and not led else range(0)
    is_torn = any(place in torn for place in name)
    if is_torn or not _reads_like_name([words[place] for place in name], is_led=bool(led)):
        name = range(0)
    leftover = tuple(place for each in stretches for place in each if place not in name)
    if not name:
        return Name(leftover=leftover)
    text = " ".join(words[place].text for place in name)
    try:
        holder = clean_holder(text)
    except Rejection as refused:
        return Name(rejection=refused, leftover=leftover)
    if led or (_is_known([words[place] for place in name]) and words[name.start].folded not in NOT_THIS):
        return Name(holder=holder, leftover=leftover)
    return Name(doubtful=holder, leftover=leftover)


def _stretches(words: Sequence[Word], free: Sequence[bool]) -> tuple[list[range], list[range]]:
    """The stretches of words that mean something unknown, and those of them that a word leads to as names."""
    all_of_them, led = list[range](), list[range]()
    place = 0
    while place < len(words):
        stop = _end(words, free, place)
        stretch, is_led = range(place, stop), _is_led(words, place)
        if stretch and (is_led or not _is_money(words, stretch)):
            all_of_them.append(stretch)
            led += [stretch] if is_led else []
        place = max(stop, place + 1)
    return all_of_them, led


def _is_led(words: Sequence[Word], place: int) -> bool:
    if place == 0:
        return False
    return words[place - 1].folded in LEADS_TO_NAME or _is_lead_apart(words, place - 1)


def _is_lead_apart(words: Sequence[Word], place: int) -> bool:
    """Whether this is the second word of "a n", after which a name follows."""
    return place > 0 and (words[place - 1].folded, words[place].folded) == LEADS_APART


def _end(words: Sequence[Word], free: Sequence[bool], start: int) -> int:
    stop = start
    while stop < len(words) and free[stop] and not _is_around(words, stop):
        if stop > start and words[stop].parted:
            break
        stop += 1
    return stop


def _is_money(words: Sequence[Word], stretch: range) -> bool:
    """Whether this is the word for funds; it names the e-wallet, too, but not beside a bank."""
    return len(stretch) == 1 and words[stretch.start].folded == "dana"


def _is_around(words: Sequence[Word], place: int) -> bool:
    """Whether this word only leads to others, or is politeness."""
    folded = words[place].folded
    if folded in FILLERS or folded in GENERIC or folded in LEADS_TO_NAME or folded in CURRENCIES:
        return True
    if _is_lead_apart(words, place) or _is_lead_apart(words, place + 1 if place + 1 < len(words) else 0):
        return True
    before = words[place - 1].folded if place else ""
    after = words[place + 1].folded if place + 1 < len(words) else ""
    return (before, folded) in POLITE_PAIRS or (folded, after) in POLITE_PAIRS


def _until_something_else(words: Sequence[Word], stretch: range) -> range:
    """The name that a word leads to, without what begins behind it ("a.n. Budi fee 5rb")."""
    for place in stretch:
        if words[place].folded in (_ENDS_NAME_WITHIN if place > stretch.start else _ENDS_NAME):
            return range(stretch.start, place)
    return stretch


def _reads_like_name(stretch: Sequence[Word], *, is_led: bool) -> bool:
    if not 0 < len(stretch) <= LONGEST_NAME or all(word.folded in _NEVER_ALONE for word in stretch):
        return False
    is_firm = is_led and stretch[0].folded in BUSINESS
    if any(map(_is_no_name, stretch[1:] if is_firm else stretch)):
        return False
    if not is_led and (_begins_amid(stretch) or any(word.folded in NOT_THIS for word in stretch[1:])):
        return False
    return any(sum(character.isalpha() for character in word.text) > 1 for word in stretch)


def _is_known(stretch: Sequence[Word]) -> bool:
    """Whether these words are surely a name: people are called so, or a title stands before them.

    Of words with a capital each, one that is known is enough.
    """
    if stretch[0].folded in TITLES:
        return True
    telling = [word for word in stretch if len(word.text.strip(".")) > 1 and word.folded not in _PARTICLES]
    known = [word for word in telling if _is_called(word)]
    has_capitals = all(word.text[:1].isupper() and word.text[1:].islower() for word in telling)
    return (len(known) == len(telling) or has_capitals) and any(word.folded not in WORDS_TOO for word in known)


def _is_called(word: Word) -> bool:
    """Whether people are called so; accents and apostrophes aside."""
    letters = "".join(each for each in unicodedata.normalize("NFD", word.folded) if each.isalpha())
    return letters in KNOWN_NAMES or _NAMED.fullmatch(letters) is not None


def _begins_amid(stretch: Sequence[Word]) -> bool:
    """Whether a word written small stands before one with a capital: "sayur Budi" are two things."""
    small = False
    for word in stretch:
        if word.text[:1].isupper() and small:
            return True
        small = small or (word.text.islower() and len(word.text) > 1 and word.folded not in _PARTICLES)
    return False


def _is_no_name(word: Word) -> bool:
    folded = word.folded
    if word.odd or word.doubted or any(character.isdecimal() for character in word.text) or has_loose_word(word):
        return True
    return folded in _NO_NAME or _FORMS.fullmatch(folded) is not None
