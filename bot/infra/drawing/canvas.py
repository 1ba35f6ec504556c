"""The canvas of a picture: palette indices in, a PNG out."""

import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from PIL import Image, ImageDraw

from bot.infra.drawing import shapes
from bot.infra.drawing.palette import CARD, INK, RECEIPT, Palette
from bot.infra.drawing.text_layout import Lines, Style

Align = Literal["left", "middle", "right"]
_ANCHORS: dict[Align, str] = {"left": "ls", "middle": "ms", "right": "rs"}

# 75 kB in 7 ms. zlib's default level saves 15 kB and takes 15 ms.
_COMPRESSION = 3

_SOLID = [0] + [255] * 255


class Canvas:
    """A canvas of one colour. Positions are pixels from the upper left. The caller names the background it draws on."""

    def __init__(self, width: int, height: int, ground: str, palette: Palette = RECEIPT) -> None:
        self._palette = palette
        self._image = Image.new("L", (width, height), palette.index(ground))

    def fill(self, box: tuple[int, int, int, int], colour: str) -> None:
        """Fill a rectangle (left, top, right, bottom; right and bottom are exclusive)."""
        self._image.paste(self._palette.index(colour), box)

    def draw_shape(self, shape: Image.Image, at: tuple[int, int], ink: str, ground: str) -> None:
        """Draw a shape with its upper left corner at `at`. Black parts of the shape are transparent."""
        self._image.paste(shape.point(self._palette.ramp(ink, ground)), at, shape.point(_SOLID))

    def rounded(self, box: tuple[int, int, int, int], radius: int, ink: str, ground: str) -> None:
        """Fill a rectangle with round corners."""
        left, top, right, bottom = box
        self.fill((left, top + radius, right, bottom - radius), ink)
        self.fill((left + radius, top, right - radius, bottom), ink)
        disc = shapes.draw_disc(2 * radius)
        for x, part_x in ((left, 0), (right - radius, radius)):
            for y, part_y in ((top, 0), (bottom - radius, radius)):
                corner = disc.crop((part_x, part_y, part_x + radius, part_y + radius))
                self.draw_shape(corner, (x, y), ink, ground)

    def write(
        self,
        text: str,
        style: Style,
        at: tuple[int, int],
        ink: str,
        ground: str,
        *,
        align: Align = "left",
        is_fixed: bool = False,
    ) -> None:
        """Write one line. `at` is the start, middle or end of its baseline.

        `is_fixed`: the text is the same on many pictures, such as a label. Its drawing is kept, so it must not be
        personal.
        """
        draw = _draw_fixed_text if is_fixed else _draw_text
        drawn = draw(text, style, _ANCHORS[align], self._palette, (ink, ground))
        if drawn is not None:
            left, top = drawn.offset
            self._image.paste(drawn.picture, (at[0] + left, at[1] + top), drawn.mask)

    def write_lines(
        self,
        lines: Lines,
        at: tuple[int, int],
        ink: str,
        ground: str,
        *,
        align: Align = "left",
        is_fixed: bool = False,
    ) -> None:
        """Write lines below each other. `at` is the top of the first, at its start, middle or end.

        `is_fixed` is as for `write`.
        """
        x, top = at
        for line in lines.texts:
            place = (x, lines.style.baseline(top))
            self.write(line, lines.style, place, ink, ground, align=align, is_fixed=is_fixed)
            top += lines.style.leading

    def paste_code(self, code: Image.Image, at: tuple[int, int]) -> None:
        """Paste `code`, a 1-bit picture, in ink on the card's white."""
        ink, ground = self._palette.index(INK), self._palette.index(CARD)
        self._image.paste(code.convert("L").point([ink] + [ground] * 255), at)

    def png(self) -> bytes:
        """Return a PNG with 8 bits per pixel. The same drawing gives the same bytes."""
        picture = self._image.copy()
        picture.putpalette(self._palette.bytes)
        file = io.BytesIO()
        picture.save(file, "PNG", compress_level=_COMPRESSION)
        return file.getvalue()


@dataclass(frozen=True, slots=True)
class _DrawnText:
    """A line of text in palette indices, where it isn't transparent, and its upper left corner from its anchor."""

    picture: Image.Image
    mask: Image.Image
    offset: tuple[int, int]


def _draw_text(text: str, style: Style, anchor: str, palette: Palette, colours: tuple[str, str]) -> _DrawnText | None:
    """Return the drawing of a line in an ink on a ground, or None if nothing of it is visible."""
    left, top, right, bottom = (round(edge) for edge in style.font.getbbox(text, anchor=anchor))
    if right <= left or bottom <= top:
        return None
    # One more pixel on each side, because edges are rounded.
    shape = Image.new("L", (right - left + 2, bottom - top + 2))
    ImageDraw.Draw(shape).text((1 - left, 1 - top), text, 255, style.font, anchor)
    return _DrawnText(shape.point(palette.ramp(*colours)), shape.point(_SOLID), (left - 1, top - 1))


_draw_fixed_text = lru_cache(maxsize=256)(_draw_text)
