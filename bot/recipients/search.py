"""Find the destination that a user typed, by the names in the live list and by common names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rapidfuzz import fuzz

from bot.recipients.banks import find_known, name_forms, split_words
from bot.settlement.model import PayoutMethod

MAX_CANDIDATES: Final = 8
MAX_QUERY_LENGTH: Final = 64

_MIN_SURE_PREFIX: Final = 3
"""Letters. Shorter beginnings match too much by chance, so the bot asks."""

_MIN_SURE_TYPO: Final = 5
"""Letters. In shorter names one wrong letter makes another bank's name (BCA, BNI, BRI, BSI)."""

_SHORT: Final = 3
"""Letters of the short names that are offered, and never taken, if their letters are swapped."""

_MIN_SIMILARITY, _MIN_SURE_SIMILARITY, _MIN_LEAD = 72.0, 79.0, 8.0
"""Similarities in percent: enough to offer, enough to choose, and the lead over the next that a choice needs."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One clear `hit`, or several `candidates` with the likeliest first, or neither."""

    hit: PayoutMethod | None = None
    candidates: tuple[PayoutMethod, ...] = ()


def search(query: str, methods: Sequence[PayoutMethod]) -> SearchResult:
    """Return what `query` ("bca", "gopey", "sea bank") means among the live `methods`.

    Whole names come first ("bca" is BCA, not BCA Syariah), then beginnings, clear typos, and names within a sentence.
    A hit is clear if no other method fits as well. Otherwise up to eight candidates are offered.
    """
    asked = name_forms(query[: MAX_QUERY_LENGTH + 1])
    if not asked or len(query) > MAX_QUERY_LENGTH:
        return SearchResult()
    if exact := [method for method in methods if asked & _forms(method) or method.code == query.strip()]:
        return _make_result(exact, sure=True)
    if begun := _find_by_beginning(asked, split_words(query), methods):
        return _make_result(begun, sure=len(min(asked, key=len)) >= _MIN_SURE_PREFIX)
    resembling = _find_similar(asked, methods)
    mentioned = [method for method in methods if _mentions(split_words(query), method)]
    if resembling == SearchResult() and not mentioned:
        return _make_result([method for method in methods if is_swapped(asked, method)], sure=False)
    return _make_result(mentioned, sure=False) if mentioned and resembling.hit is None else resembling


def _make_result(methods: Sequence[PayoutMethod], *, sure: bool) -> SearchResult:
    if sure and len(methods) == 1:
        return SearchResult(hit=methods[0])
    return SearchResult(candidates=tuple(methods[:MAX_CANDIDATES]))


@lru_cache(maxsize=1024)
def _phrases(method: PayoutMethod) -> tuple[str, ...]:
    known = find_known(method.code, method.name)
    return (method.name, *(known.all_names if known else ()))


@lru_cache(maxsize=1024)
def _forms(method: PayoutMethod) -> frozenset[str]:
    return frozenset[str]().union(*(name_forms(phrase) for phrase in _phrases(method)))


def _find_by_beginning(
    asked: frozenset[str], typed: tuple[str, ...], methods: Sequence[PayoutMethod]
) -> list[PayoutMethod]:
    """Return the methods with a name that begins with the query. Names with the fewest further letters come first."""
    start = min(asked, key=len)
    ranked = []
    for place, method in enumerate(methods):
        lengths = [len(form) for form in _forms(method) if form.startswith(start)]
        if lengths or any(_begins(typed, split_words(phrase)) for phrase in _phrases(method)):
            ranked.append((not lengths, min(lengths, default=0), place))
    return [methods[place] for *_, place in sorted(ranked)]


def _begins(typed: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return all(any(word.startswith(part) for word in phrase) for part in typed)


def _mentions(typed: tuple[str, ...], method: PayoutMethod) -> bool:
    """Return whether a whole name of the method is among the words typed: "ke bca mobile"."""
    return any(len(word) >= _MIN_SURE_PREFIX and word in _forms(method) for word in typed)


def _find_similar(asked: frozenset[str], methods: Sequence[PayoutMethod]) -> SearchResult:
    ranked = sorted(((_similarity(asked, method), -place) for place, method in enumerate(methods)), reverse=True)
    likely = [(score, methods[-place]) for score, place in ranked if score >= _MIN_SIMILARITY]
    if not likely:
        return SearchResult()
    score, best = likely[0]
    behind = likely[1][0] if len(likely) > 1 else 0.0
    sure = len(max(asked, key=len)) >= _MIN_SURE_TYPO and score >= _MIN_SURE_SIMILARITY and score - behind >= _MIN_LEAD
    return SearchResult(hit=best) if sure else _make_result([method for _, method in likely], sure=False)


def is_swapped(asked: frozenset[str], method: PayoutMethod) -> bool:
    """Return whether `asked` is a short name with its letters in another order: "bac" for BCA."""
    short = [name for name in _forms(method) if len(name) == _SHORT]
    return any(len(one) == _SHORT and sorted(one) == sorted(name) for one in asked for name in short)


def _similarity(asked: frozenset[str], method: PayoutMethod) -> float:
    return max(fuzz.ratio(one, other) for one in asked for other in _forms(method))
