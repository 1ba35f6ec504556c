"""Normalisation of typed text: digits of any script, any kind of space, nothing invisible."""

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs"}
_SEPARATORS = {"\u066b": ",", "\u066c": "'"}
"""Arabic decimal and thousands separators, which NFKC leaves as they are."""
_CACHE_SIZE = 10_000


def plain(text: str) -> str:
    """Return `text` in NFKC with ASCII digits, ASCII hyphens and single spaces, without invisible characters.

    Numbers pasted from other apps contain invisible direction marks, narrow spaces and long dashes.
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).split())


class _PlainCharacters(dict[int, str]):
    """The replacement of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        replacement = self[code] = _plain_character(chr(code))
        return replacement


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


def remove_pictures(text: str) -> str:
    """Return `text` without emoji and other pictures. A keycap such as 5️⃣ leaves its digit."""
    return "".join(
        " " if _is_symbol(character) else character for character in text if not _is_combining_mark(character)
    )


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Sk"}


def _is_combining_mark(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me"}


def has_odd_numerals(text: str) -> bool:
    """Return whether `text` has characters such as ½, ² or ⑤. NFKC would turn them into other numbers."""
    return any(unicodedata.category(character) in {"No", "Nl"} for character in text)
