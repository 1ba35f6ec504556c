"""What people type, made comparable: any script's digits, any kind of space, nothing invisible."""

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs"}
_SEPARATORS = {"\u066b": ",", "\u066c": "'"}
"""Arabic decimal and thousands separators, which NFKC leaves as they are."""


def plain(text: str) -> str:
    """`text` in NFKC, with ASCII digits, hyphens and single spaces; invisible characters are gone.

    Numbers pasted from other apps carry direction marks, narrow spaces and long dashes that nobody sees.
    """
    folded = unicodedata.normalize("NFKC", text)
    return " ".join("".join(_plain_character(character) for character in folded).split())


def _plain_character(character: str) -> str:
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category in _INVISIBLE:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd" or character == "\u2212":
        return "-"
    return _SEPARATORS.get(character, character)


def without_pictures(text: str) -> str:
    """`text` without emoji and other pictures; a keycap such as 5\ufe0f\u20e3 leaves its digit behind."""
    return "".join(" " if _is_picture(character) else character for character in text if not _is_dressing(character))


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Sk"}


def _is_dressing(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me"}


def has_odd_numerals(text: str) -> bool:
    """Whether `text` holds ½, ², ⑤ and the like, which folding would silently turn into other numbers."""
    return any(unicodedata.category(character) in {"No", "Nl"} for character in text)
