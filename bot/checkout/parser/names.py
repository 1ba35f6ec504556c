"""Find the words of a line that name the destination, and those that name the holder.

Some banks have names of people, and users misspell banks. The holder's name is what remains when everything else is
understood, if it looks like a name.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from rapidfuzz import fuzz, process

from bot.checkout.parser.vocabulary import (
    ABOUT,
    ASIDE_LABELS,
    BUSINESS,
    COUNTED,
    EACH,
    EITHER,
    EVERYDAY,
    EVERYDAY_WORDS,
    FILLERS,
    GENERIC,
    KNOWN_NAMES,
    LEADS_APART,
    LEADS_TO_NAME,
    NAMES_TOO,
    NEARLY_BANKS,
    NOT_THIS,
    ONLY_EXACT,
    OTHER_AMOUNTS,
    POLITE_PAIRS,
    TALK,
    TITLES,
    WORDS_TOO,
)
from bot.core.errors import Rejection
from bot.core.money.tokens import CURRENCIES, Token
from bot.core.money.typed import kind_of
from bot.recipients.banks import find_known, name_forms
from bot.recipients.holders import clean_holder
from bot.recipients.search import MAX_CANDIDATES, is_swapped, search
from bot.settlement.model import PayoutMethod

LONGEST_DESTINATION: Final = 6
"""Maximum of words in a destination's name: "pt bank pembangunan daerah jawa barat" has six."""

MOST_SEARCHED: Final = 4
"""Maximum of stretches of a line that are searched for similar names. Each search takes milliseconds."""

_NO_PART_OF_BANKS: Final = FILLERS | TALK | LEADS_TO_NAME | TITLES
_OTHER_WORDS: Final = (EVERYDAY_WORDS | TALK | COUNTED) - FILLERS - GENERIC - LEADS_TO_NAME
_SHORTEST_LIKENESS: Final = 3
_SHORT: Final = 3
_LIKE_ENOUGH: Final = 80.0
LONGEST_HOLDER: Final = 5
"""Maximum of words in a holder's name. More words are a sentence."""

_ENDS_NAME: Final = ASIDE_LABELS | OTHER_AMOUNTS | ABOUT | EACH
"""Words that end a holder's name, because something else begins with them."""

_ENDS_NAME_WITHIN: Final = _ENDS_NAME | NOT_THIS
"""The same after the first word of a name. As the first word, "dr" can be a doctor's title ("a.n. dr Budi dr BCA")."""

_NO_NAME: Final = (EVERYDAY_WORDS | TALK | COUNTED | _ENDS_NAME) - TITLES - {"hari"}
_MONEY: Final = frozenset("wtheuxy")
"""Kinds of words that an amount has. A word outside of all amounts may be a part of one."""

_PARTICLES: Final = (
    TITLES | BUSINESS | frozenset({"bin", "binti", "bt", "al", "el", "van", "de", "der", "da", "dr", "ir"})
)
"""Words within a name that are written in small letters."""

_NEVER_ALONE: Final = TITLES | frozenset({"dr", "drg", "drs", "ir", "hj", "pt", "cv", "ud", "pd"})
_NAMED: Final = re.compile(
    r"(?!me[lmnr]|ber|ter)\w{2,}(?:wati|ningsih|nengsih|yanto|yanti|yono|yadi|uddin|udin|ullah|iyah|ansyah|asari|iawan|wijaya|kusuma|atmaja)"
    r"|(?!me[lmnr]|ber|ter)\w{3,}(?:anto|anti|diana|liana|riana|tono|sono|saputra|saputri|putra|putri|hardjo|dinata|kusumo)"
)
"""Common endings of names: "Setyawati", "Rusmiyanto"."""

_FORMS: Final = re.compile(r"me(?:ng|ny|mb|mp|nj|nc|nd|nt|ns)\w{3,}|\w{4,}nya|\w{4,}kan|pe(?:m|n|ng|r)\w{4,}an")
"""Indonesian verbs and nouns, by prefix and suffix: "mengirim", "uangnya", "transferkan", "pembayaran"."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The words from `start` to before `stop`, and the methods that they can mean, the likeliest first.

    `is_certain`: written exactly like the name. `clear`: misspelt, but it resembles only one name.
    """

    start: int
    stop: int
    methods: tuple[PayoutMethod, ...]
    is_certain: bool = True
    clear: bool = False


def find_destinations(
    words: Sequence[Token], free: Sequence[bool], methods: Sequence[PayoutMethod]
) -> list[Destination]:
    """Return the destinations that the `free` words name or, if there are none, those that they resemble.

    A word that is also a person's name ("mega", "dana") isn't a destination if a bank is next to it, or if a word
    before it says that a person's name follows ("a/n Mega").
    """
    named = list(_named(words, free, tuple(methods)))
    unmistakable = [each for each in named if not may_be_name(words, each)]
    if any(not is_destination_unclear(words, each) for each in unmistakable):
        return unmistakable
    taken = {place for each in named for place in range(each.start, each.stop)}
    untaken = [is_free and place not in taken for place, is_free in enumerate(free)]
    resembling = _resembling(words, untaken, methods)
    return [*named, *(each for each in resembling if each.clear)] if named else resembling


def may_be_name(words: Sequence[Token], destination: Destination) -> bool:
    """Return whether these words can be a person's name."""
    text = _text(words, destination.start, destination.stop).casefold()
    return text.removesuffix(" bank") in NAMES_TOO  # "Siti Mega bank mandiri"


def is_destination_unclear(words: Sequence[Token], destination: Destination) -> bool:
    """Return whether the next words make it unclear that the money goes there ("dari bca", "bca atau bni").

    They can also show that the word isn't a destination at all ("hari raya", "dana darurat").
    """
    before = destination.start
    while before > 0 and is_led(words[before]) and words[before - 1].folded in FILLERS | GENERIC:
        before -= 1
    if before > 0 and is_led(words[before]) and words[before - 1].folded in NOT_THIS:
        return True
    if (before > 0 and words[before - 1].folded in EITHER) or _is_either(words, destination.stop):
        return True
    beside = [(destination.start - 1, destination.start), (destination.stop, destination.stop)]
    return may_be_name(words, destination) and any(
        0 <= place < len(words) and words[joint].joined and words[place].folded in _OTHER_WORDS
        for place, joint in beside
    )


def is_led(token: Token) -> bool:
    """Return whether the word before can introduce the token: only spaces, a colon or a bracket are between them."""
    return set(token.gap) <= _LED


_LED: Final = frozenset(' :=.([*"')


def _is_either(words: Sequence[Token], place: int) -> bool:
    """Return whether the word at `place`, or after a bank's code at `place`, offers another destination ("atau")."""
    behind = place
    while behind < len(words) and not any(map(str.isalpha, words[behind].text)):
        behind += 1
    return behind < len(words) and words[behind].folded in EITHER


def _named(words: Sequence[Token], free: Sequence[bool], methods: tuple[PayoutMethod, ...]) -> Iterator[Destination]:
    index, place = _index(methods), 0
    while place < len(words):
        found = next(_named_at(words, free, index, place), None)
        if found is not None:
            yield found
        place = found.stop if found else place + 1


def _named_at(
    words: Sequence[Token], free: Sequence[bool], index: dict[str, tuple[PayoutMethod, ...]], start: int
) -> Iterator[Destination]:
    if _is_led_to_name(words, free, start):
        return
    for stop in range(_end_of_destination(words, free, start, LONGEST_DESTINATION), start, -1):
        text = _text(words, start, stop)
        if text.casefold() in EVERYDAY:
            continue
        meant = _called(text, index)
        has_initial = meant and _may_end_with_initial(words, free, start, stop)
        shorter = _called(_text(words, start, stop - 1), index) if has_initial else ()
        if meant:
            end = _end_of_destination(words, free, start, 2 * LONGEST_DESTINATION)
            texts = (_text(words, at, after) for at in range(start + 1, stop) for after in range(stop + 1, end + 1))
            others = [other for each in texts for other in _called(each, index)]  # "tabungan Bank Negara Indonesia"
            every = tuple(dict.fromkeys((*shorter, *meant, *others)))
            yield Destination(start, stop, every, is_certain=not shorter and not others)


def _called(text: str, index: dict[str, tuple[PayoutMethod, ...]]) -> tuple[PayoutMethod, ...]:
    """Return the methods that are called `text`."""
    return tuple(dict.fromkeys(method for form in sorted(name_forms(text)) for method in index.get(form, ())))


def _may_end_with_initial(words: Sequence[Token], free: Sequence[bool], start: int, stop: int) -> bool:
    """Return whether a destination's last letter may begin a name: "bca S Rahayu", where "bca s" is a bank too."""
    if stop - start == 1 or len(words[stop - 1].text) > 1 or stop == len(words) or not words[stop].joined:
        return False
    return free[stop] and words[stop].folded not in _NO_PART_OF_BANKS | _OTHER_WORDS | GENERIC


def _is_led_to_name(words: Sequence[Token], free: Sequence[bool], place: int) -> bool:
    """Return whether the word before says that a person's name follows. The "ibu" of a broken "r ibu" doesn't."""
    if place == 0 or not free[place - 1]:
        return False
    before = words[place - 1].folded
    return before in LEADS_TO_NAME or before in TITLES


def _end_of_destination(words: Sequence[Token], free: Sequence[bool], start: int, most: int) -> int:
    """Return where a stretch of free words that begins at `start` ends, at most `most` words later."""
    stop = start
    while stop < min(len(words), start + most) and free[stop] and not (stop > start and not words[stop].joined):
        stop += 1
    return stop


def _text(words: Sequence[Token], start: int, stop: int) -> str:
    return " ".join(word.text for word in words[start:stop])


def _resembling(words: Sequence[Token], free: Sequence[bool], methods: Sequence[PayoutMethod]) -> list[Destination]:
    """Return the likeliest misspelt or unfinished names. No two of them share a word."""
    found, worth = list[tuple[float, Destination]](), _worth_searching(words, free)
    if not worth:
        return []
    names = tuple(_index(tuple(methods)))
    telling = tuple(name for name in names if name not in ONLY_EXACT)
    spans = (
        span for span in worth if _resembles_any(_text(words, *span), names if _is_bank(words, span[0]) else telling)
    )
    for start, stop in islice(spans, MOST_SEARCHED):
        text, is_bank = _text(words, start, stop), _is_bank(words, start)
        result = search(text, methods)
        meant = (result.hit,) if result.hit else result.candidates
        likeness = max((_likeness(text, method, is_bank=is_bank) for method in meant), default=0.0)
        is_short = any(is_swapped(name_forms(text), method) for method in meant)
        if likeness >= _LIKE_ENOUGH or is_short or (meant and _begins(text, meant[0], is_bank=is_bank)):
            clear = result.hit is not None and likeness >= _LIKE_ENOUGH
            found.append((likeness, Destination(start, stop, meant, is_certain=False, clear=clear)))
    return _apart([each for _, each in sorted(found, key=lambda pair: -pair[0])])


def _resembles_any(text: str, names: Sequence[str]) -> bool:
    """Return whether `text` begins one of `names`, or is nearly such a beginning. It is far quicker than a search."""
    asked = name_forms(text)
    if any(
        name.startswith(one) or (len(one) <= _SHORT and sorted(name) == sorted(one)) for one in asked for name in names
    ):
        return True
    return any(process.extractOne(one, names, scorer=fuzz.ratio, score_cutoff=_LIKE_ENOUGH) for one in asked)


def _apart(ranked: Sequence[Destination]) -> list[Destination]:
    kept = list[Destination]()
    for each in ranked:
        if all(each.stop <= other.start or other.stop <= each.start for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda each: each.start)


def _worth_searching(words: Sequence[Token], free: Sequence[bool]) -> list[tuple[int, int]]:
    """Return stretches of words, those after "bank" first, then single words, then pairs."""
    spans = [
        (start, stop)
        for start in range(len(words))
        if not _is_led_to_name(words, free, start)
        for stop in range(start + 1, _end_of_destination(words, free, start, LONGEST_DESTINATION) + 1)
        if _could_be_misspelt(words, start, stop)
    ]
    spans.sort(key=lambda span: (words[span[0]].folded not in GENERIC, span[1] - span[0], span[0]))
    return [span for span in spans if span[1] - span[0] <= (4 if words[span[0]].folded in GENERIC else 2)]


def _could_be_misspelt(words: Sequence[Token], start: int, stop: int) -> bool:
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
    """Return every form of every name of the method."""
    known = find_known(method.code, method.name)
    phrases = (method.name, *(known.all_names if known else ()))
    return frozenset[str]().union(*(name_forms(phrase) for phrase in phrases))


@lru_cache(maxsize=4)
def _index(methods: tuple[PayoutMethod, ...]) -> dict[str, tuple[PayoutMethod, ...]]:
    """Return each form of a name with its methods."""
    index = dict[str, list[PayoutMethod]]()
    for method in methods:
        for form in _forms(method):
            index.setdefault(form, []).append(method)
    return {form: tuple(found[:MAX_CANDIDATES]) for form, found in index.items()}


def _is_bank(words: Sequence[Token], place: int) -> bool:
    return words[place].folded in GENERIC


def _likeness(text: str, method: PayoutMethod, *, is_bank: bool) -> float:
    others = _forms(method) if is_bank else _forms(method) - ONLY_EXACT
    return max((fuzz.ratio(one, other) for one in name_forms(text) for other in others), default=0.0)


def _begins(text: str, method: PayoutMethod, *, is_bank: bool) -> bool:
    others = _forms(method) if is_bank else _forms(method) - ONLY_EXACT
    return any(other.startswith(one) for one in name_forms(text) for other in others)


@dataclass(frozen=True, slots=True)
class Name:
    """The holder's name, or why it is rejected, and the places of unknown words.

    `doubtful`: words that may be a name, or unknown words.
    """

    holder: str | None = None
    doubtful: str | None = None
    rejection: Rejection | None = None
    leftover: tuple[int, ...] = ()


def find_name(words: Sequence[Token], free: Sequence[bool], torn: Collection[int] = ()) -> Name:
    """Return the name among the `free` words: the words after "a/n", or else the only stretch that can be a name.

    `torn`: words next to a word that is either a bank or the rest of their name ("Siti Mega"). They aren't used.
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


def _stretches(words: Sequence[Token], free: Sequence[bool]) -> tuple[list[range], list[range]]:
    """Return the stretches of unknown words, and those that follow a word such as "a/n"."""
    all_of_them, led = list[range](), list[range]()
    place = 0
    while place < len(words):
        stop = _end_of_name(words, free, place)
        stretch, is_led = range(place, stop), _is_led(words, place)
        if stretch and (is_led or not _is_money(words, stretch)):
            all_of_them.append(stretch)
            led += [stretch] if is_led else []
        place = max(stop, place + 1)
    return all_of_them, led


def _is_led(words: Sequence[Token], place: int) -> bool:
    if place == 0:
        return False
    return words[place - 1].folded in LEADS_TO_NAME or _is_lead_apart(words, place - 1)


def _is_lead_apart(words: Sequence[Token], place: int) -> bool:
    """Return whether this is the second word of "a n", after which a name follows."""
    return place > 0 and (words[place - 1].folded, words[place].folded) == LEADS_APART


def _end_of_name(words: Sequence[Token], free: Sequence[bool], start: int) -> int:
    stop = start
    while stop < len(words) and free[stop] and not _is_around(words, stop):
        if stop > start and not words[stop].joined:
            break
        stop += 1
    return stop


def _is_money(words: Sequence[Token], stretch: range) -> bool:
    """Return whether "dana" means funds here. It is also the name of an e-wallet, but not next to a bank."""
    return len(stretch) == 1 and words[stretch.start].folded == "dana"


def _is_around(words: Sequence[Token], place: int) -> bool:
    """Return whether the word is polite or only introduces others."""
    folded = words[place].folded
    if folded in FILLERS or folded in GENERIC or folded in LEADS_TO_NAME or folded in CURRENCIES:
        return True
    if _is_lead_apart(words, place) or _is_lead_apart(words, place + 1 if place + 1 < len(words) else 0):
        return True
    before = words[place - 1].folded if place else ""
    after = words[place + 1].folded if place + 1 < len(words) else ""
    return (before, folded) in POLITE_PAIRS or (folded, after) in POLITE_PAIRS


def _until_something_else(words: Sequence[Token], stretch: range) -> range:
    """Return the name after a word such as "a.n.", up to where something else begins ("a.n. Budi fee 5rb")."""
    for place in stretch:
        if words[place].folded in (_ENDS_NAME_WITHIN if place > stretch.start else _ENDS_NAME):
            return range(stretch.start, place)
    return stretch


def _reads_like_name(stretch: Sequence[Token], *, is_led: bool) -> bool:
    if not 0 < len(stretch) <= LONGEST_HOLDER or all(word.folded in _NEVER_ALONE for word in stretch):
        return False
    is_firm = is_led and stretch[0].folded in BUSINESS
    if any(map(_is_no_name, stretch[1:] if is_firm else stretch)):
        return False
    if not is_led and (_begins_amid(stretch) or any(word.folded in NOT_THIS for word in stretch[1:])):
        return False
    return any(sum(character.isalpha() for character in word.text) > 1 for word in stretch)


def _is_known(stretch: Sequence[Token]) -> bool:
    """Return whether these words are certainly a name: they are known names, or a title comes before them.

    If every word begins with a capital, one known name is enough.
    """
    if stretch[0].folded in TITLES:
        return True
    telling = [word for word in stretch if len(word.text.strip(".")) > 1 and word.folded not in _PARTICLES]
    known = [word for word in telling if _is_called(word)]
    has_capitals = all(word.text[:1].isupper() and word.text[1:].islower() for word in telling)
    return (len(known) == len(telling) or has_capitals) and any(word.folded not in WORDS_TOO for word in known)


def _is_called(word: Token) -> bool:
    """Return whether the word is a known name. Accents and apostrophes don't count."""
    letters = "".join(each for each in unicodedata.normalize("NFD", word.folded) if each.isalpha())
    return letters in KNOWN_NAMES or _NAMED.fullmatch(letters) is not None


def _begins_amid(stretch: Sequence[Token]) -> bool:
    """Return whether a name begins after a word in small letters: in "sayur Budi" only "Budi" is a name."""
    small = False
    for word in stretch:
        if word.text[:1].isupper() and small:
            return True
        small = small or (word.text.islower() and len(word.text) > 1 and word.folded not in _PARTICLES)
    return False


def _is_no_name(word: Token) -> bool:
    folded = word.folded
    return (
        (kind_of(word) in _MONEY and len(word.text) > 1) or folded in _NO_NAME or _FORMS.fullmatch(folded) is not None
    )
