"""Conversion between Telegram's UTF-16 code units and Python's characters."""

from __future__ import annotations

from bisect import bisect_left

_BEYOND_BMP = "\uffff"


def length(text: str) -> int:
    """Return the length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Positions:
    """Positions in one text, converted both ways."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for char in text:
            self._starts.append(self._starts[-1] + (2 if char > _BEYOND_BMP else 1))

    @property
    def end(self) -> int:
        """Return the length in UTF-16 code units."""
        return self._starts[-1]

    def units(self, index: int) -> int:
        """Return the UTF-16 offset of the character at `index`."""
        return self._starts[index]

    def index(self, offset: int) -> int | None:
        """Return the index of the character at a UTF-16 offset. Return None inside a character or beyond the end."""
        found = bisect_left(self._starts, offset)
        return found if found < len(self._starts) and self._starts[found] == offset else None
