"""Text layout: fonts by weight and size, and wrapping, shrinking or cutting text to a width."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final

from PIL import ImageFont

CAP_HEIGHT: Final = 0.745
"""Height of a capital letter, as a share of the font's size."""

ELLIPSIS = "…"


class Weight(StrEnum):
    """The font files."""

    MEDIUM = "Medium"
    BOLD = "Bold"
    EXTRA_BOLD = "ExtraBold"


@dataclass(frozen=True, slots=True)
class Style:
    """A weight at a size. `size` and `leading` (the height of a line) are pixels."""

    weight: Weight
    size: int
    leading: int

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        """Return the font, loaded once."""
        return _load_font(self.weight, self.size)

    def width(self, text: str) -> float:
        """Return the width of `text` in pixels."""
        return self.font.getlength(text)

    def baseline(self, top: int) -> int:
        """Return the baseline of a line that begins at `top`, with capitals centred vertically."""
        return round(top + (self.leading + CAP_HEIGHT * self.size) / 2)


@dataclass(frozen=True, slots=True)
class Lines:
    """Text after layout."""

    style: Style
    texts: tuple[str, ...]

    @property
    def height(self) -> int:
        """Return the height of all lines, in pixels."""
        return len(self.texts) * self.style.leading

    @property
    def width(self) -> float:
        """Return the width of the longest line, in pixels."""
        return max(map(self.style.width, self.texts), default=0)


def fit_text(text: str, styles: Sequence[Style], width: int, max_lines: int) -> Lines:
    """Return `text` in the first style that needs one line, else in the last, wrapped and cut after `max_lines`."""
    for style in styles:
        if style.width(text) <= width:
            return Lines(style, (text,) if text else ())
    return wrap_text(text, styles[-1], width, max_lines)


def wrap_text(text: str, style: Style, width: int, max_lines: int) -> Lines:
    """Return `text` in lines of at most `width` pixels. Break longer words, and cut after `max_lines`."""
    lines: list[str] = []
    rest = text
    while rest and len(lines) < max_lines:
        line, rest = _split_first_line(rest, style, width)
        lines.append(line)
    if rest:
        lines[-1] = _cut(lines[-1], style, width)
    return Lines(style, tuple(lines))


wrap_fixed_text = lru_cache(maxsize=128)(wrap_text)
"""Return what `wrap_text` does, and keep it. For texts on many pictures that aren't personal, such as labels."""


def _split_first_line(text: str, style: Style, width: int) -> tuple[str, str]:
    """Return the first line of `text`, and the rest."""
    if style.width(text) <= width:
        return text, ""
    fits = _count_fitting(text, style, width)
    space = text.rfind(" ", 0, fits + 1)
    end = space if space > 0 else fits
    return text[:end].rstrip(), text[end:].lstrip()


def _count_fitting(text: str, style: Style, width: int) -> int:
    """Return how many characters of a too wide text fit. At least one, so that the loop ends."""
    low, high = 1, len(text)
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if style.width(text[:middle]) <= width else (low, middle)
    return low


def _cut(line: str, style: Style, width: int) -> str:
    while line and style.width(line + ELLIPSIS) > width:
        line = line[:-1]
    return line.rstrip() + ELLIPSIS


@lru_cache(maxsize=64)
def _load_font(weight: Weight, size: int) -> ImageFont.FreeTypeFont:
    # The basic layout on every machine: the other one needs a system library that can be missing.
    file = BytesIO((files("bot.infra.drawing") / "fonts" / f"PlusJakartaSans-{weight}.ttf").read_bytes())
    return ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)
