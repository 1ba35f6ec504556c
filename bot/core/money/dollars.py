"""US dollars in a typed text: "$20", "20 usd", "20 usdt". We don't send them, so they are asked about in rupiah."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

from bot.core.locales import any_of, typed_words
from bot.core.money.exact import MAX_RUPIAH, Amount
from bot.core.money.foreign import FOREIGN_LANDS, has_foreign_sign, is_foreign, is_foreign_beside_an_amount
from bot.core.money.tokens import SCALES, THOUSAND, tokenize
from bot.core.money.typed import list_meanings
from bot.core.text import plain, with_plain_marks

MOST_READINGS: Final = 2
ROUNDED_TO: Final = 1_000
"""Rupiah. The rate is approximate, so the rupiah are whole thousands."""

_WHOLE_NUMBER: Final = 8
"""Digits from which a number needs no more digits, because it is an account or mobile number."""

_NUMBER: Final = r"(?P<{0}>\d[\d.,]*)\s?(?P<{0}_scale>{1})?"
_THOUSAND: Final = any_of(sorted((word for word, scales in SCALES.items() if scales == (THOUSAND,)), reverse=True))
_CODES: Final = r"us ?\$|\$|usd[tc]?"
_WORDS: Final = any_of(sorted(typed_words("us_dollars"), key=len, reverse=True))
_OWN: Final = rf"(?:us |american )?(?:{_WORDS})(?: as\b| us\b| amerika\b)?"
_DOLLARS: Final = re.compile(
    rf"(?<![\w$.,'\-])(?:"
    rf"(?:{_CODES})\s?{_NUMBER.format('behind', _THOUSAND)}(?:\s?(?:{_CODES}|{_OWN}))?"
    rf"|{_NUMBER.format('before', _THOUSAND)}\s?(?:{_CODES}|{_OWN})"
    rf")(?![\w$])",
    re.IGNORECASE,
)
_OUR_LANDS: Final = frozenset({"us", "u.s", "usa", "american", "as", "amerika"})


@dataclass(frozen=True, slots=True)
class Dollars:
    """The dollars in a text, as they were typed, and the amounts that they can be."""

    text: str
    readings: tuple[Fraction, ...]


def find_dollars(text: str) -> Dollars | None:
    """Return the dollars in `text`, or None if there are none, several, or another currency next to them."""
    typed = plain(with_plain_marks(text))
    found = list(_DOLLARS.finditer(typed))
    if len(found) != 1:
        return None
    begin, end = found[0].span()
    before, after = typed[:begin], typed[end:]
    is_cut = any(map(_may_belong, (before.split()[-1:], after.split()[:1])))
    if is_cut or any(_is_of_others(token.text) for token in tokenize(f"{before} {after}")):
        return None
    meanings = list_meanings((found[0]["behind"] or found[0]["before"]).rstrip(".,"))
    scale = THOUSAND if found[0]["behind_scale"] or found[0]["before_scale"] else 1
    readings = tuple(sorted({each * scale for each in meanings if each > 0}))
    return Dollars(found[0][0].strip(), readings) if 0 < len(readings) <= MOST_READINGS else None


def convert_dollars(dollars: Dollars, usdc_idr: Decimal) -> tuple[Amount, ...]:
    """Return the rupiah that each reading comes to, in whole thousands. Those of less or too much are left out."""
    return tuple(dict.fromkeys(_convert(dollars, usdc_idr)))


def _convert(dollars: Dollars, usdc_idr: Decimal) -> Iterator[Amount]:
    for each in dollars.readings:
        thousands = each * Fraction(usdc_idr) / ROUNDED_TO
        rounded = Decimal(thousands.numerator) / Decimal(thousands.denominator)
        rupiah = int(rounded.to_integral_value(ROUND_HALF_UP)) * ROUNDED_TO
        if 0 < rupiah <= MAX_RUPIAH:
            yield Amount("IDR", rupiah)


def _may_belong(word: list[str]) -> bool:
    """Return whether the word next to the dollars may be digits of them, and is no account number by itself."""
    digits = sum(map(str.isdecimal, "".join(word)))
    return 0 < digits < _WHOLE_NUMBER and "".join(word)[0].isdecimal()


def _is_of_others(word: str) -> bool:
    """Return whether the word is about another currency, or says that the dollars are of another country."""
    bare = word.strip(".,!?").casefold()
    is_other = is_foreign(word) or is_foreign_beside_an_amount(word) or has_foreign_sign(word)
    return is_other or (bare in FOREIGN_LANDS and bare not in _OUR_LANDS)
