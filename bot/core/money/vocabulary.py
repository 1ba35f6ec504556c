"""The words for amounts that users in Indonesia type: Indonesian, English and market slang."""

from functools import lru_cache
from typing import Final

from bot.core.locales import typed_fractions, typed_lists, typed_parts, typed_scales, typed_values, typed_words

THOUSAND, MILLION, BILLION, TRILLION = 10**3, 10**6, 10**9, 10**12

CURRENCIES: Final = {
    **dict.fromkeys(("rp", "idr", "rupiah", "perak"), "IDR"),
    **dict.fromkeys(("sat", "sats", "satoshi", "satoshis"), "SAT"),
    **dict.fromkeys(("btc", "xbt", "bitcoin", "bitcoins"), "BTC"),
    "₿": "₿",
}

_NAMED: Final = {"thousand": THOUSAND, "million": MILLION, "billion": BILLION, "trillion": TRILLION}

SCALES: Final = typed_scales("scales", _NAMED)
"""What a word multiplies by. "M" is a million in English and a miliar (10⁹) in Indonesian."""

ONE_OF: Final = {word: scale for word, (scale,) in typed_scales("one_of", _NAMED).items()}
"""Scales joined with their "one"."""

FRACTIONS: Final = typed_fractions("fractions")
"""Words for a part of what follows or precedes: "setengah", "seperempat", "half"."""

PARTS: Final = typed_parts("parts")
"""Words after a count that say of which parts: "tiga perempat", "three quarters"."""

AMOUNT_LABELS: Final = frozenset(typed_words("amount_labels"))
"""Words that introduce an amount."""

DECIMAL_WORDS: Final = frozenset(typed_words("decimal_words"))
"""Words for a decimal mark: "2 koma 5 juta"."""

ADDITIVE: Final = frozenset({*typed_words("additive"), "&", "+"})
"""Words and marks between two sums that are meant together."""

BESIDE_A_SUM: Final = frozenset(typed_words("beside_a_sum"))
"""Polite words around a sum."""

TIMES: Final = typed_values("times")
TEENS: Final = typed_values("teens")


def _counted(name: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for known in typed_lists(name) for place, word in enumerate(known)}


DIGITS: Final = _counted("digits", 0)

UNDER_HUNDRED: Final = {**_counted("from_ten", 10), "jigo": 25, "gocap": 50}

TENS: Final = _counted("tens_from_twenty", 20, 10)

HUNDREDS: Final = {**typed_values("hundreds"), "cepek": 100, "pego": 150, "nopek": 200, "gopek": 500}

SLANG: Final = {
    "gocap": 50_000,
    "seceng": 1_000,
    "ceceng": 1_000,
    "noceng": 2_000,
    "goceng": 5_000,
    "ceban": 10_000,
    "noban": 20_000,
    "goban": 50_000,
    "cetiau": 1_000_000,
    "gotiau": 5_000_000,
}
"""Slang for whole amounts, used alone. Only `gocap` can also mean plain 50."""

_ALL: Final = sorted(
    {
        *(*CURRENCIES, *SCALES, *ONE_OF, *FRACTIONS, *PARTS, *TIMES, *TEENS),
        *(*DIGITS, *UNDER_HUNDRED, *TENS, *HUNDREDS, *SLANG),
    },
    key=len,
    reverse=True,
)
_BY_LETTER: Final = {letter: [word for word in _ALL if word[0] == letter] for letter in {word[0] for word in _ALL}}


@lru_cache(maxsize=4096)
def words_in(run: str) -> tuple[str, ...] | None:
    """Split `run` into known words ("limapuluhribu"), longest first. Return None if anything is left."""
    if not run:
        return ()
    for word in _BY_LETTER.get(run[0], ()):
        if run.startswith(word):
            rest = words_in(run[len(word) :])
            if rest is not None:
                return (word, *rest)
    return None
