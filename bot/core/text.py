"""What people type, made comparable: any script's digits, any kind of space, nothing invisible."""

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs"}
_SEPARATORS = {"\u066b": ",", "\u066c": "'"}
"""Arabic decimal and thousands separators, which NFKC leaves as they are."""
_CHARACTERS_KEPT = 10_000


def plain(text: str) -> str:
    """`text` in NFKC, with ASCII digits, hyphens and single spaces; invisible characters are gone.

    Numbers pasted from other apps carry direction marks, narrow spaces and long dashes that nobody sees.
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).split())


class _PlainCharacters(dict[int, str]):
    """What each character becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _CHARACTERS_KEPT:
            self.clear()
        shown = self[code] = _plain_character(chr(code))
        return shown


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


_PLAIN = _PlainCharacters()


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
