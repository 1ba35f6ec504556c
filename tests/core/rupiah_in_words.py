"""Amounts in Indonesian words, such as "dua juta lima ratus ribu"."""

from typing import Final

_DIGITS: Final = ("", "satu", "dua", "tiga", "empat", "lima", "enam", "tujuh", "delapan", "sembilan")


def in_words(value: int) -> str:
    """Return the number in words, below a thousand million."""
    parts = []
    for size, name in ((1_000_000, "juta"), (1_000, "ribu"), (1, "")):
        count, value = divmod(value, size)
        if count == 1 and size == 1_000:
            parts.append("seribu")
        elif count:
            parts.append(f"{_below_thousand(count)} {name}".strip())
    return " ".join(parts)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    parts = ["seratus" if hundreds == 1 else f"{_DIGITS[hundreds]} ratus"] if hundreds else []
    tens, ones = divmod(rest, 10)
    if rest == 10:
        parts.append("sepuluh")
    elif rest == 11:
        parts.append("sebelas")
    elif tens == 1:
        parts.append(f"{_DIGITS[ones]} belas")
    else:
        parts += [f"{_DIGITS[tens]} puluh"] * bool(tens) + [_DIGITS[ones]] * bool(ones)
    return " ".join(parts)
