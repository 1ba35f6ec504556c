"""The words for amounts that users in Indonesia type: Indonesian, English and market slang."""

from typing import Final

THOUSAND, MILLION, BILLION, TRILLION = 10**3, 10**6, 10**9, 10**12

CURRENCIES: Final = {
    **dict.fromkeys(("rp", "idr", "rupiah", "perak"), "IDR"),
    **dict.fromkeys(("sat", "sats", "satoshi", "satoshis"), "SAT"),
    **dict.fromkeys(("btc", "xbt", "bitcoin", "bitcoins"), "BTC"),
    "₿": "₿",
}

SCALES: Final = {
    **dict.fromkeys(("rb", "rbu", "ribu", "k", "thousand"), (THOUSAND,)),
    **dict.fromkeys(("jt", "jta", "juta", "mio", "million"), (MILLION,)),
    **dict.fromkeys(("miliar", "milyar", "bn", "billion"), (BILLION,)),
    **dict.fromkeys(("triliun", "trilyun", "trillion"), (TRILLION,)),
    # "M" is a million in English and a miliar (10⁹) in Indonesian.
    **dict.fromkeys(("m", "mil"), (MILLION, BILLION)),
}

ONE_OF: Final = {"seribu": THOUSAND, "sejuta": MILLION, "semiliar": BILLION, "semilyar": BILLION}
"""Scales joined with their "one"."""

HALVES: Final = {"setengah", "half"}

TIMES: Final = {"puluh": 10, "ratus": 100, "hundred": 100}
TEENS: Final = {"belas": 10}


def _counted(first: int, step: int, words: str) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


DIGITS: Final = {
    **_counted(0, 1, "nol satu dua tiga empat lima enam tujuh delapan sembilan"),
    **_counted(0, 1, "zero one two three four five six seven eight nine"),
}

UNDER_HUNDRED: Final = {
    **_counted(10, 1, "sepuluh sebelas"),
    **_counted(10, 1, "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
    **_counted(25, 25, "jigo gocap"),
}

TENS: Final = _counted(20, 10, "twenty thirty forty fifty sixty seventy eighty ninety")

HUNDREDS: Final = {"seratus": 100, "cepek": 100, "pego": 150, "nopek": 200, "gopek": 500}

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
    {*CURRENCIES, *SCALES, *ONE_OF, *HALVES, *TIMES, *TEENS, *DIGITS, *UNDER_HUNDRED, *TENS, *HUNDREDS, *SLANG},
    key=len,
    reverse=True,
)


def words_in(run: str) -> list[str] | None:
    """Split `run` into known words ("limapuluhribu"), longest first. Return None if anything is left."""
    if not run:
        return []
    for word in _ALL:
        if run.startswith(word):
            rest = words_in(run[len(word) :])
            if rest is not None:
                return [word, *rest]
    return None
