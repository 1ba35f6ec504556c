"""Which characters the receipt's fonts draw, and what stands for the others: never a box, never a hidden sign."""

import unicodedata
from typing import Final

UNDRAWN: Final = "•••"
"""Stands for words of other scripts, as it does for what is masked."""

NOTHING: Final = "–"  # noqa: RUF001 - meant as a dash
"""Stands for a text of which nothing can be drawn."""

_PUNCTUATION = "‐‒–—‘’‚“”„†•…‹›€™−≈≤≥×→←↑↓№‰⁄∞≠₿"  # noqa: RUF001 - all on purpose
_ABSENT = "\u00ad\u0149\u017f"
DRAWN: Final = (
    frozenset(map(chr, (*range(0x21, 0x7F), *range(0xA1, 0x180), *range(0x218, 0x21C), 0x1E9E)))
    | frozenset(_PUNCTUATION)
) - frozenset(_ABSENT)
"""What the font files hold, besides the space."""

_TWINS: Final = {"\u02bb": "‘", "\u02bc": "’", "\u2011": "-"}  # noqa: RUF001 - as fonts draw them
_SILENT = frozenset(
    {"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Mc", "Me", "Sk", "So", "Sm", "Sc", "Ps", "Pe", "Pi", "Pf", "Po"}
)


def drawable(text: str, longest: int) -> str:
    """The first `longest` characters of `text` on one line, in characters that the fonts have.

    Emoji, control and direction marks are left out, letters lose marks that the fonts lack, and each run of another
    script's letters becomes `UNDRAWN`. Empty text stays empty; where nothing is left of it, `NOTHING` is.
    """
    if not text.strip():
        return ""
    pieces: list[str] = []
    for character in unicodedata.normalize("NFC", text[:longest]):
        piece = _drawn(character)
        if piece != UNDRAWN or pieces[-1:] != [UNDRAWN]:
            pieces += [piece] if piece else []
    return " ".join("".join(pieces).split()) or NOTHING


def _drawn(character: str) -> str:
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
