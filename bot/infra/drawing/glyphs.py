"""The characters of the receipt's fonts, and replacements for others. No empty boxes, no invisible characters."""

import unicodedata
from typing import Final

UNDRAWN: Final = "•••"
"""Replaces words of other scripts, and masked parts."""

NOTHING: Final = "–"  # noqa: RUF001 - meant as a dash
"""Replaces a text that can't be drawn at all."""

_PUNCTUATION = "‐‒–—‘’‚“”„†•…‹›€™−≈≤≥×→←↑↓№‰⁄∞≠₿"  # noqa: RUF001 - all on purpose
_ABSENT = "\u00ad\u0149\u017f"
DRAWN: Final = (
    frozenset(map(chr, (*range(0x21, 0x7F), *range(0xA1, 0x180), *range(0x218, 0x21C), 0x1E9E)))
    | frozenset(_PUNCTUATION)
) - frozenset(_ABSENT)
"""The characters of the font files, without the space."""

_TWINS: Final = {"\u02bb": "‘", "\u02bc": "’", "\u2011": "-"}  # noqa: RUF001 - characters that fonts draw alike
_SILENT = frozenset(
    {"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Mc", "Me", "Sk", "So", "Sm", "Sc", "Ps", "Pe", "Pi", "Pf", "Po"}
)


def make_drawable(text: str, longest: int) -> str:
    """Return the first `longest` characters of `text` on one line, in characters that the fonts have.

    Emoji, control characters and direction marks are removed. Letters lose accents that the fonts lack. Each run of
    another script's letters becomes `UNDRAWN`. Empty text stays empty. If nothing is left, the result is `NOTHING`.
    """
    if not text.strip():
        return ""
    pieces: list[str] = []
    for character in unicodedata.normalize("NFC", text[:longest]):
        piece = _convert(character)
        if piece != UNDRAWN or pieces[-1:] != [UNDRAWN]:
            pieces += [piece] if piece else []
    return " ".join("".join(pieces).split()) or NOTHING


def _convert(character: str) -> str:
    if character in DRAWN:
        return character
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd":
        return "-"
    if twin := _TWINS.get(character):
        return twin
    parts = (part for part in unicodedata.normalize("NFKD", character) if part in DRAWN)
    return "".join(parts) or ("" if category in _SILENT else UNDRAWN)
