"""Currencies that we don't send ("usd", "$", "won") in a line, and whether a sum is in one of them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.parser.vocabulary import BUSINESS, CURRENCIES_TOO, FILLERS, KNOWN_NAMES, LEADS_TO_NAME, TITLES
from bot.core.money.foreign import (
    FOREIGN_LANDS,
    has_foreign_sign,
    is_foreign,
    is_foreign_beside_a_sum,
    is_foreign_sum,
)
from bot.core.money.tokens import WHOLE_NUMBER, Token
from bot.core.money.typed import kind_of

_BEFORE_NAME: Final = LEADS_TO_NAME | TITLES | BUSINESS
_MONEY: Final = "nilogfqjzwthueuxymrsbk"


@dataclass(frozen=True, slots=True)
class Foreign:
    """The places of a line's foreign currencies.

    - `names_sum`: one of them says what a number counts.
    - `torn`: the places next to one that is also a person's name, and may be the rest of a holder's ("Lee Won 500rb").
    """

    places: frozenset[int] = frozenset()
    names_sum: bool = False
    torn: frozenset[int] = frozenset()


def find_foreign(tokens: Sequence[Token], asides: Collection[int]) -> Foreign:
    """Return the currencies in a line that are neither rupiah nor bitcoin."""
    places, names_sum = set[int](), False
    for place, token in enumerate(tokens):
        if place in asides or token.digits:
            continue
        named = _with_lands(tokens, place)
        if has_foreign_sign(token.text) and token.gap == "" and place and kind_of(tokens[place - 1]) in ".a":
            named = range(place - 1, named.stop)  # "S$", "US$"
        beside = [at for at in (named.start - 1, named.stop) if _is_number(tokens, at, asides)]
        if has_foreign_sign(token.text) or is_foreign_sum(token.text):
            places, names_sum = places.union(named), True
        elif is_foreign(token.text) and (beside or not _is_led(tokens, place)):
            places, names_sum = places.union(named), names_sum or bool(beside)
        elif is_foreign_beside_a_sum(token.text) and beside and not _is_name(tokens, place, beside):
            places.add(place)
            names_sum = names_sum or token.folded not in FILLERS
    may_be_names = [
        place for place in places if tokens[place].folded in CURRENCIES_TOO and _is_capitalised(tokens[place])
    ]
    return Foreign(
        frozenset(places), names_sum, frozenset(at for place in may_be_names for at in (place - 1, place + 1))
    )


def _with_lands(tokens: Sequence[Token], place: int) -> range:
    """Return the places of a currency and of the words around it that say whose it is."""
    start, stop = place, place + 1
    while start > 0 and tokens[start - 1].folded in FOREIGN_LANDS and tokens[start].joined:
        start -= 1
    while stop < len(tokens) and tokens[stop].folded in FOREIGN_LANDS and tokens[stop].joined:
        stop += 1
    return range(start, stop)


def _is_number(tokens: Sequence[Token], place: int, asides: Collection[int]) -> bool:
    """Return whether the token at `place` can be one of a sum. A complete account number can't."""
    if not 0 <= place < len(tokens) or place in asides:
        return False
    return kind_of(tokens[place]) in _MONEY and len(tokens[place].digits) < WHOLE_NUMBER


def _is_led(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the word before says that this is a name: "a.n. Euro Jaya", "PT Dolar"."""
    return place > 0 and tokens[place - 1].folded in _BEFORE_NAME and tokens[place].gap != "\n"


def _is_name(tokens: Sequence[Token], place: int, beside: Sequence[int]) -> bool:
    """Return whether a word next to a number, which may be a currency, is more likely a name or only polite.

    It is if the number says that it is rupiah, or if a name is led to. So is a capitalised word that a mark separates
    from the number, or that is a common name beside a unit ("500rb Mark").
    """
    token = tokens[place]
    kinds = {kind for at in beside for kind in _kinds_around(tokens, at)}
    if _is_led(tokens, place) or "r" in kinds:
        return True
    if token.folded in FILLERS and place - 1 not in beside:
        return True  # "dong" asks politely, and is Vietnam's currency
    if token.folded not in CURRENCIES_TOO or not _is_capitalised(token):
        return False
    is_parted = not token.joined if place - 1 in beside else not tokens[place + 1].joined
    return is_parted or ("u" in kinds and token.folded in KNOWN_NAMES)


def _kinds_around(tokens: Sequence[Token], place: int) -> Iterator[str]:
    """Yield the kinds of the sum that the token at `place` is part of."""
    for step in (-1, 1):
        at = place
        while 0 <= at < len(tokens) and kind_of(tokens[at]) in _MONEY:
            yield kind_of(tokens[at])
            if not tokens[at if step < 0 else min(at + 1, len(tokens) - 1)].joined:
                break
            at += step


def _is_capitalised(token: Token) -> bool:
    return token.text[:1].isupper() and token.text[1:].islower()
