"""Which words of a line name the destination, where banks bear the names of people and people misspell banks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from rapidfuzz import fuzz, process

from bot.checkout.parser.vocabulary import (
    COUNTED,
    EITHER,
    EVERYDAY,
    EVERYDAY_WORDS,
    FILLERS,
    GENERIC,
    LEADS_TO_NAME,
    NAMES_TOO,
    NEARLY_BANKS,
    NOT_THIS,
    ONLY_EXACT,
    TALK,
    TITLES,
)
from bot.checkout.parser.words import Word
from bot.recipients.banks import forms, known_as
from bot.recipients.search import MOST_OFFERED, search
from bot.settlement.model import PayoutMethod

LONGEST_NAME: Final = 6
"""Words of one destination; "pt bank pembangunan daerah jawa barat" has six."""

MOST_SEARCHED: Final = 4
"""Stretches of one line that resemble a name and are searched for, which takes milliseconds for each."""

_NO_PART_OF_BANKS: Final = FILLERS | TALK | LEADS_TO_NAME | TITLES
_OTHER_WORDS: Final = (EVERYDAY_WORDS | TALK | COUNTED) - FILLERS - GENERIC - LEADS_TO_NAME
_SHORTEST_LIKENESS: Final = 3
_LIKE_ENOUGH: Final = 80.0


@dataclass(frozen=True, slots=True)
class Destination:
    """The words from `start` to before `stop`, and the methods that they can mean, the likeliest first.

    `sure`: written as it is called. `clear`: misspelt, and like no other.
    """

    start: int
    stop: int
    methods: tuple[PayoutMethod, ...]
    sure: bool = True
    clear: bool = False


def find_destinations(
    words: Sequence[Word], free: Sequence[bool], methods: Sequence[PayoutMethod]
) -> list[Destination]:
    """The destinations that the `free` words name; those that only resemble one, where none is named.

    A name that people bear as well ("mega", "dana") gives way to a bank beside it, and to the word that says that a
    person's name follows ("a/n Mega").
    """
    named = list(_named(words, free, tuple(methods)))
    unmistakable = [each for each in named if not may_be_name(words, each)]
    if any(not is_in_doubt(words, each) for each in unmistakable):
        return unmistakable
    taken = {place for each in named for place in range(each.start, each.stop)}
    left = [is_free and place not in taken for place, is_free in enumerate(free)]
    resembling = _resembling(words, left, methods)
    return [*named, *(each for each in resembling if each.clear)] if named else resembling


def may_be_name(words: Sequence[Word], destination: Destination) -> bool:
    """Whether people, too, are called what these words say."""
    text = _text(words, destination.start, destination.stop).casefold()
    return text.removesuffix(" bank") in NAMES_TOO  # "Siti Mega bank mandiri"


def is_in_doubt(words: Sequence[Word], destination: Destination) -> bool:
    """Whether the words beside it leave it open that the money goes there ("dari bca", "bca atau bni").

    Or they say that it is no destination, as for names that are words of their own ("hari raya", "dana darurat").
    """
    before = destination.start
    while before > 0 and not words[before].parted and words[before - 1].folded in FILLERS | GENERIC:
        before -= 1
    if before > 0 and not words[before].parted and words[before - 1].folded in NOT_THIS:
        return True
    if (before > 0 and words[before - 1].folded in EITHER) or _is_either(words, destination.stop):
        return True
    beside = [(destination.start - 1, destination.start), (destination.stop, destination.stop)]
    return may_be_name(words, destination) and any(
        0 <= place < len(words)
        and not words[joint].parted
        and not words[place].aside
        and words[place].folded in _OTHER_WORDS
        for place, joint in beside
    )


def _is_either(words: Sequence[Word], place: int) -> bool:
    """Whether the word at `place`, or the one behind a bank's code there, says that another may be meant."""
    behind = place
    while behind < len(words) and not any(map(str.isalpha, words[behind].text)):
        behind += 1
    return behind < len(words) and words[behind].folded in EITHER


def _named(words: Sequence[Word], free: Sequence[bool], methods: tuple[PayoutMethod, ...]) -> Iterator[Destination]:
    index, place = _index(methods), 0
    while place < len(words):
        found = next(_named_at(words, free, index, place), None)
        if found is not None:
            yield found
        place = found.stop if found else place + 1


def _named_at(
    words: Sequence[Word], free: Sequence[bool], index: dict[str, tuple[PayoutMethod, ...]], start: int
) -> Iterator[Destination]:
    if is_led_to_name(words, start):
        return
    for stop in range(_end(words, free, start, LONGEST_NAME), start, -1):
        text = _text(words, start, stop)
        if text.casefold() in EVERYDAY:
            continue
        meant = _called(text, index)
        has_initial = meant and _may_end_with_initial(words, free, start, stop)
        shorter = _called(_text(words, start, stop - 1), index) if has_initial else ()
        if meant:
            yield Destination(start, stop, tuple(dict.fromkeys((*shorter, *meant))), sure=not shorter)


def _called(text: str, index: dict[str, tuple[PayoutMethod, ...]]) -> tuple[PayoutMethod, ...]:
    """Return the methods that are called `text`."""
    return tuple(dict.fromkeys(method for form in sorted(forms(text)) for method in index.get(form, ())))


def _may_end_with_initial(words: Sequence[Word], free: Sequence[bool], start: int, stop: int) -> bool:
    """Return whether a destination's last letter may begin a name: "bca S Rahayu", where "bca s" is a bank as well."""
    if stop - start == 1 or len(words[stop - 1].text) > 1 or stop == len(words) or words[stop].parted:
        return False
    return free[stop] and words[stop].folded not in _NO_PART_OF_BANKS | _OTHER_WORDS | GENERIC


def is_led_to_name(words: Sequence[Word], place: int) -> bool:
    """Whether the words before say that a person's name follows."""
    if place == 0:
        return False
    before = words[place - 1].folded
    return before in LEADS_TO_NAME or before in TITLES


def _end(words: Sequence[Word], free: Sequence[bool], start: int, most: int) -> int:
    """Where a stretch of free words that begins at `start` ends, at most `most` words later."""
    stop = start
    while stop < min(len(words), start + most) and free[stop] and not (stop > start and words[stop].parted):
        stop += 1
    return stop


def _text(words: Sequence[Word], start: int, stop: int) -> str:
    return " ".join(word.text for word in words[start:stop])


def _resembling(words: Sequence[Word], free: Sequence[bool], methods: Sequence[PayoutMethod]) -> list[Destination]:
    """The likeliest misspelt or unfinished names, none of which shares a word with another."""
    found, names = list[tuple[float, Destination]](), tuple(_index(tuple(methods)))
    telling = tuple(name for name in names if name not in ONLY_EXACT)
    spans = (
        span
        for span in _worth_searching(words, free)
        if _resembles_any(_text(words, *span), names if _is_bank(words, span[0]) else telling)
    )
    for start, stop in islice(spans, MOST_SEARCHED):
        text, is_bank = _text(words, start, stop), _is_bank(words, start)
        result = search(text, methods)
        meant = (result.hit,) if result.hit else result.candidates
        likeness = max((_likeness(text, method, is_bank=is_bank) for method in meant), default=0.0)
        if likeness >= _LIKE_ENOUGH or (meant and _begins(text, meant[0], is_bank=is_bank)):
            clear = result.hit is not None and likeness >= _LIKE_ENOUGH
            found.append((likeness, Destination(start, stop, meant, sure=False, clear=clear)))
    return _apart([each for _, each in sorted(found, key=lambda pair: -pair[0])])


def _resembles_any(text: str, names: Sequence[str]) -> bool:
    """Whether `text` begins one of `names` or is spelt nearly so; far quicker than a search."""
    asked = forms(text)
    if any(name.startswith(one) for one in asked for name in names):
        return True
    return any(process.extractOne(one, names, scorer=fuzz.ratio, score_cutoff=_LIKE_ENOUGH) for one in asked)


def _apart(ranked: Sequence[Destination]) -> list[Destination]:
    kept = list[Destination]()
    for each in ranked:
        if all(each.stop <= other.start or other.stop <= each.start for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda each: each.start)


def _worth_searching(words: Sequence[Word], free: Sequence[bool]) -> list[tuple[int, int]]:
    """Stretches of words, those after "bank" first, then single words, then pairs."""
    spans = [
        (start, stop)
        for start in range(len(words))
        if not is_led_to_name(words, start)
        for stop in range(start + 1, _end(words, free, start, LONGEST_NAME) + 1)
        if _could_be_misspelt(words, start, stop)
    ]
    spans.sort(key=lambda span: (words[span[0]].folded not in GENERIC, span[1] - span[0], span[0]))
    return [span for span in spans if span[1] - span[0] <= (4 if words[span[0]].folded in GENERIC else 2)]


def _could_be_misspelt(words: Sequence[Word], start: int, stop: int) -> bool:
    if any(word.folded in _NO_PART_OF_BANKS for word in words[start:stop]):
        return False
    if stop - start > 1:
        return not any(word.folded in EVERYDAY_WORDS | GENERIC for word in words[start + 1 : stop])
    text = words[start].folded
    if text in GENERIC or text in EVERYDAY or text in NEARLY_BANKS or text in EVERYDAY_WORDS:
        return False
    return len(text) >= _SHORTEST_LIKENESS and text.isalpha()


@lru_cache(maxsize=1024)
def _forms(method: PayoutMethod) -> frozenset[str]:
    """All forms of all that the method is called."""
    known = known_as(method.code, method.name)
    phrases = (method.name, *(known.phrases if known else ()))
    return frozenset[str]().union(*(forms(phrase) for phrase in phrases))


@lru_cache(maxsize=4)
def _index(methods: tuple[PayoutMethod, ...]) -> dict[str, tuple[PayoutMethod, ...]]:
    """From each form to the methods that are called so."""
    index = dict[str, list[PayoutMethod]]()
    for method in methods:
        for form in _forms(method):
            index.setdefault(form, []).append(method)
    return {form: tuple(found[:MOST_OFFERED]) for form, found in index.items()}


def _is_bank(words: Sequence[Word], place: int) -> bool:
    return words[place].folded in GENERIC


def _likeness(text: str, method: PayoutMethod, *, is_bank: bool) -> float:
    others = _forms(method) if is_bank else _forms(method) - ONLY_EXACT
    return max((fuzz.ratio(one, other) for one in forms(text) for other in others), default=0.0)


def _begins(text: str, method: PayoutMethod, *, is_bank: bool) -> bool:
    others = _forms(method) if is_bank else _forms(method) - ONLY_EXACT
    return any(other.startswith(one) for one in forms(text) for other in others)
