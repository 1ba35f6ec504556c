"""Setting text: fonts by weight and size, and how long text is wrapped, shrunk or cut to a width."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final

from PIL import ImageFont

CAP_HEIGHT: Final = 0.745
"""Of a capital letter, as a share of the font's size."""

ELLIPSIS = "…"


class Weight(StrEnum):
    """The files there are."""

    MEDIUM = "Medium"
    BOLD = "Bold"
    EXTRA_BOLD = "ExtraBold"


@dataclass(frozen=True, slots=True)
class Style:
    """A weight at a size; `size` and `leading`, the height of a line, are pixels."""

    weight: Weight
    size: int
    leading: int

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        """The font, loaded once."""
        return _font(self.weight, self.size)

    def width(self, text: str) -> float:
        """How wide `text` runs, in pixels."""
        return self.font.getlength(text)

    def baseline(self, top: int) -> int:
        """Where the letters of a line beginning at `top` stand, so that capitals are in its middle."""
        return round(top + (self.leading + CAP_HEIGHT * self.size) / 2)


@dataclass(frozen=True, slots=True)
class Lines:
    """Text that has been set."""

    style: Style
    texts: tuple[str, ...]

    @property
    def height(self) -> int:
        """Pixels, of all lines together."""
        return len(self.texts) * self.style.leading

    @property
    def width(self) -> float:
        """Pixels, of the longest line."""
        return max(map(self.style.width, self.texts), default=0)


def fitted(text: str, styles: Sequence[Style], width: int, most_lines: int) -> Lines:
    """`text` in the first style that needs one line only; else in the last one, wrapped and cut after `most_lines`."""
    for style in styles:
        if style.width(text) <= width:
            return Lines(style, (text,) if text else ())
    return wrapped(text, styles[-1], width, most_lines)


def wrapped(text: str, style: Style, width: int, most_lines: int) -> Lines:
    """`text` in lines of at most `width` pixels. Words longer than a line are broken, what is too much is cut."""
    lines: list[str] = []
    rest = text
    while rest and len(lines) < most_lines:
        line, rest = _first_line(rest, style, width)
        lines.append(line)
    if rest:
        lines[-1] = _cut(lines[-1], style, width)
    return Lines(style, tuple(lines))


def _first_line(text: str, style: Style, width: int) -> tuple[str, str]:
    """The line that `text` begins with, and what is left."""
    if style.width(text) <= width:
        return text, ""
    fits = _fitting(text, style, width)
    space = text.rfind(" ", 0, fits + 1)
    end = space if space > 0 else fits
    return text[:end].rstrip(), text[end:].lstrip()


def _fitting(text: str, style: Style, width: int) -> int:
    """How many characters of a text that is too wide fit; one at least, so that there is an end."""
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
def _font(weight: Weight, size: int) -> ImageFont.FreeTypeFont:
    # The basic layout everywhere: the other one depends on a library of the system's, and would need it to agree.
    file = BytesIO((files("bot.infra.drawing") / "fonts" / f"PlusJakartaSans-{weight}.ttf").read_bytes())
    return ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)
