"""Pictures: text, shapes and blocks, stacked on a white card. All measures are in pixels.

A chat shows a picture at a third of its width, so no text is smaller than 34 pixels. A picture has the indices of one
palette. That takes a fifth of the time and bytes of full colour.
"""

import io
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from PIL import Image, ImageDraw, ImageFont, ImageOps

from bot.payments import qr

WIDTH: Final = 1080
CARD_LEFT: Final = 40
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 108
"""Where text begins. It ends at `RIGHT`."""

RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
MIDDLE: Final = WIDTH // 2

PAGE = "page"
CARD = "card"
INK = "ink"
INK_2 = "ink-2"
ACCENT = "accent"
SOFT = "soft"
LINE = "line"
SENT = "sent"
AREA = "area"
FALLEN = "fallen"
RISEN_GROUND = "risen-ground"
FALLEN_GROUND = "fallen-ground"

COLOURS: Final = {
    PAGE: (0xE3, 0xED, 0xE8),
    CARD: (0xFF, 0xFF, 0xFF),
    INK: (0x17, 0x22, 0x1E),
    INK_2: (0x52, 0x60, 0x5A),
    ACCENT: (0x0B, 0x6B, 0x62),
    SOFT: (0xEC, 0xF5, 0xF1),
    LINE: (0xC9, 0xD6, 0xCF),
    SENT: (0x1A, 0x7A, 0x45),
    AREA: (0xC4, 0xE3, 0xDA),
    FALLEN: (0xB3, 0x2D, 0x2D),
    RISEN_GROUND: (0xE0, 0xF2, 0xE7),
    FALLEN_GROUND: (0xFB, 0xE6, 0xE4),
}
"""Red, green and blue. Most are those of the chat page. Each ink has a contrast of 4.5 or more on its backgrounds."""

SHADES: Final = 15
"""Steps from a background to an ink, for smooth edges. A palette holds 256 colours, so up to 16 pairs of both."""

MAX_CHARACTERS: Final = 600
"""Maximum characters of a text, so that a long one can't take unlimited time or space."""

UNDRAWN: Final = "•••"
"""Replaces words of other scripts, and masked parts."""

NOTHING: Final = "–"  # noqa: RUF001 - meant as a dash
"""Replaces a text that can't be drawn at all."""

ELLIPSIS = "…"
CAP_HEIGHT: Final = 0.745
"""Height of a capital letter, as a share of the font's size."""

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

Align = Literal["left", "middle", "right"]
_ANCHORS: dict[Align, str] = {"left": "ls", "middle": "ms", "right": "rs"}

# 75 kB in 7 ms. zlib's default level saves 15 kB and takes 15 ms.
_COMPRESSION = 3
_PRINT_QUALITY: Final = 95
_MM_PER_INCH: Final = 25.4

_FINER = 4
"""Shapes are drawn at so many times the size, and shrunk once."""

_SOLID = [0] + [255] * 255
_BOLT = ((18, 5), (8, 18), (15, 18), (13.5, 27), (24, 14), (17, 14))
_BOLT_GRID = 32
"""The side of the square that the logo's bolt is drawn in."""

_CHECK = ((0.29, 0.52), (0.44, 0.67), (0.72, 0.36))


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
    """Text after layout. `is_fixed`: it is the same on many pictures, such as a label, and so isn't personal."""

    style: Style
    texts: tuple[str, ...]
    is_fixed: bool = False

    @property
    def height(self) -> int:
        """Return the height of all lines, in pixels."""
        return len(self.texts) * self.style.leading

    @property
    def width(self) -> float:
        """Return the width of the longest line, in pixels."""
        return max(map(self.style.width, self.texts), default=0)


def make_drawable(text: str, longest: int = MAX_CHARACTERS) -> str:
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


def fit(text: str, styles: Style | Sequence[Style], width: int, max_lines: int = 1) -> Lines:
    """Return `text` as it can be drawn, in the first style in which it is one line of at most `width` pixels.

    If there is none, it is in the last style, in lines. Longer words are broken, and it is cut after `max_lines`.
    """
    styles, lines, rest = (styles,) if isinstance(styles, Style) else styles, list[str](), make_drawable(text)
    style = next((each for each in styles if each.width(rest) <= width), styles[-1])
    while rest and len(lines) < max_lines:
        line, rest = _split_first_line(rest, style, width)
        lines.append(line)
    if rest:
        lines[-1] = _cut(lines[-1], style, width)
    return Lines(style, tuple(lines))


@lru_cache(maxsize=128)
def fit_fixed(text: str, styles: Style | tuple[Style, ...], width: int, max_lines: int) -> Lines:
    """Return what `fit` does, and keep it. For texts on many pictures that aren't personal, such as labels."""
    lines = fit(text, styles, width, max_lines)
    return Lines(lines.style, lines.texts, is_fixed=True)


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
    file = io.BytesIO((files("bot.infra.drawing") / "fonts" / f"PlusJakartaSans-{weight}.ttf").read_bytes())
    return ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16)
def draw_disc(diameter: int) -> Image.Image:
    """Return a filled circle. Shapes are white on black."""
    return _draw_smooth(diameter, lambda on, side: on.ellipse((0, 0, side - 1, side - 1), fill=255))


@lru_cache(maxsize=16)
def draw_rounded_square(side: int, radius: int) -> Image.Image:
    """Return a square with round corners."""
    return _draw_smooth(
        side, lambda on, size: on.rounded_rectangle((0, 0, size - 1, size - 1), radius * _FINER, fill=255)
    )


@lru_cache(maxsize=4)
def draw_bolt(side: int) -> Image.Image:
    """Return the lightning bolt of Kirim's logo, in a square of `side`."""
    return _draw_smooth(
        side, lambda on, size: on.polygon([(x * size / _BOLT_GRID, y * size / _BOLT_GRID) for x, y in _BOLT], fill=255)
    )


@lru_cache(maxsize=4)
def draw_check(side: int, thickness: int) -> Image.Image:
    """Return a tick with round ends, in a square of `side`."""

    def draw(on: ImageDraw.ImageDraw, size: int) -> None:
        points = [(x * size, y * size) for x, y in _CHECK]
        on.line(points, fill=255, width=thickness * _FINER)
        radius = thickness * _FINER / 2
        for x, y in points:
            on.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)

    return _draw_smooth(side, draw)


def _draw_smooth(side: int, draw: Callable[[ImageDraw.ImageDraw, int], object]) -> Image.Image:
    large = Image.new("L", (side * _FINER, side * _FINER))
    draw(ImageDraw.Draw(large), side * _FINER)
    return large.resize((side, side), Image.Resampling.BOX)


def _to_bytes(image: Image.Image, form: str, **how: float) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **how)
    return file.getvalue()


class Canvas:
    """A canvas of one colour. Positions are from the upper left. The caller names the background it draws on."""

    def __init__(self, height: int, ground: str = PAGE) -> None:
        self._palette: list[tuple[int, int, int]] = []
        self._plain: dict[str, int] = {}
        self._ramps: dict[tuple[str, str], list[int]] = {}
        self._image = Image.new("L", (WIDTH, height), self._index(ground))

    def fill(self, box: tuple[int, int, int, int], colour: str) -> None:
        """Fill a rectangle (left, top, right, bottom; right and bottom are exclusive)."""
        self._image.paste(self._index(colour), box)

    def draw_shape(self, shape: Image.Image, at: tuple[int, int], ink: str, ground: str = CARD) -> None:
        """Draw a shape with its upper left corner at `at`. Black parts of the shape are transparent."""
        self._image.paste(shape.point(self._ramp(ink, ground)), at, shape.point(_SOLID))

    def rounded(self, box: tuple[int, int, int, int], radius: int, ink: str, ground: str = CARD) -> None:
        """Fill a rectangle with round corners."""
        left, top, right, bottom = box
        self.fill((left, top + radius, right, bottom - radius), ink)
        self.fill((left + radius, top, right - radius, bottom), ink)
        disc = draw_disc(2 * radius)
        for x, part_x in ((left, 0), (right - radius, radius)):
            for y, part_y in ((top, 0), (bottom - radius, radius)):
                corner = disc.crop((part_x, part_y, part_x + radius, part_y + radius))
                self.draw_shape(corner, (x, y), ink, ground)

    def draw_mark(self, at: tuple[int, int], side: int, radius: int, ground: str = CARD) -> None:
        """Draw Kirim's logo."""
        self.draw_shape(draw_rounded_square(side, radius), at, ACCENT, ground)
        self.draw_shape(draw_bolt(side), at, CARD, ACCENT)

    def write(
        self,
        lines: Lines,
        at: tuple[int, int],
        ink: str,
        ground: str = CARD,
        *,
        align: Align = "left",
    ) -> None:
        """Write lines below each other. `at` is the top of the first, at its start, middle or end."""
        x, top = at
        draw = _draw_fixed_text if lines.is_fixed else _draw_text
        for text in lines.texts:
            drawn = draw(text, lines.style, _ANCHORS[align])
            if drawn is not None:
                shape, left, above = drawn
                self.draw_shape(shape, (x + left, lines.style.baseline(top) + above), ink, ground)
            top += lines.style.leading

    def paste_code(self, code: Image.Image, at: tuple[int, int]) -> None:
        """Paste `code`, a black and white picture, in ink on the card's white."""
        self._image.paste(code.point([self._index(INK)] + [self._index(CARD)] * 255), at)

    def png(self) -> bytes:
        """Return a PNG with 8 bits per pixel. The same drawing gives the same bytes."""
        return _to_bytes(self._coloured(), "PNG", compress_level=_COMPRESSION)

    def pdf(self, width_mm: int) -> bytes:
        """Return a PDF with one page of this width."""
        resolution = WIDTH * _MM_PER_INCH / width_mm
        return _to_bytes(self._coloured().convert("RGB"), "PDF", resolution=resolution, quality=_PRINT_QUALITY)

    def _coloured(self) -> Image.Image:
        self._image.putpalette(bytes(value for colour in self._palette for value in colour))
        return self._image

    def _index(self, colour: str) -> int:
        if colour not in self._plain:
            self._plain[colour] = self._add(COLOURS[colour])
        return self._plain[colour]

    def _ramp(self, ink: str, ground: str) -> list[int]:
        """Return the index for each of 256 strengths of `ink` on `ground`."""
        if (ink, ground) not in self._ramps:
            steps = [self._add(_mix(ink, ground, step / SHADES)) for step in range(1, SHADES)]
            places = [self._index(ground), *steps, self._index(ink)]
            self._ramps[ink, ground] = [places[round(strength * SHADES / 255)] for strength in range(256)]
        return self._ramps[ink, ground]

    def _add(self, colour: tuple[int, int, int]) -> int:
        self._palette.append(colour)
        return len(self._palette) - 1


def _mix(ink: str, ground: str, share: float) -> tuple[int, int, int]:
    pairs = zip(COLOURS[ink], COLOURS[ground], strict=True)
    red, green, blue = (round(low + (high - low) * share) for high, low in pairs)
    return red, green, blue


def _draw_text(text: str, style: Style, anchor: str) -> tuple[Image.Image, int, int] | None:
    """Return the shape of a line and its upper left corner from its anchor, or None if nothing of it is visible."""
    left, top, right, bottom = (round(edge) for edge in style.font.getbbox(text, anchor=anchor))
    if right <= left or bottom <= top:
        return None
    # One more pixel on each side, because edges are rounded.
    shape = Image.new("L", (right - left + 2, bottom - top + 2))
    ImageDraw.Draw(shape).text((1 - left, 1 - top), text, 255, style.font, anchor)
    return shape, left - 1, top - 1


_draw_fixed_text = lru_cache(maxsize=256)(_draw_text)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a picture. It is measured first, then drawn with its upper edge at a given position."""

    height: int
    draw: Callable[[Canvas, int], object] = lambda _canvas, _top: None


def text_block(lines: Lines, x: int, ink: str, align: Align = "left") -> Block:
    """Return lines on the card."""
    return Block(lines.height, lambda canvas, top: canvas.write(lines, (x, top), ink, align=align))


def stack(*blocks: Block) -> Block:
    """Return blocks below each other."""

    def draw(canvas: Canvas, top: int) -> None:
        for block in blocks:
            block.draw(canvas, top)
            top += block.height

    return Block(sum(block.height for block in blocks), draw)


def stack_with_gaps(gap: int, blocks: Iterable[Block]) -> Block:
    """Return the blocks that aren't empty below each other, with space between them."""
    shown = [block for block in blocks if block.height]
    return stack(*[each for block in shown for each in (block, Block(gap))][:-1])


def draw_qr(text: str, side: int) -> Image.Image:
    """Return a QR code of at least `side`, without its quiet zone: the white card around it is wider.

    Raises:
        UnrenderableQr: `text` is longer than a QR code can hold (2,331 bytes).
    """
    picture = qr.render(text, min_side_px=side).convert("L")
    return picture.crop(ImageOps.invert(picture).getbbox())


_QR_GAP: Final = 44


def beside_qr(text: str | None, side: int, make: Callable[[int], Block]) -> Block:
    """Return a QR code of `text`, and on its left what `make` returns for the width that is left. None for no code.

    Raises:
        UnrenderableQr: `text` is longer than a QR code can hold (2,331 bytes).
    """
    code = draw_qr(text, side) if text else None
    beside = make(TEXT_WIDTH - (code.width + _QR_GAP if code else 0))
    height = max(beside.height, code.height if code else 0)

    def draw(canvas: Canvas, top: int) -> None:
        if code:
            canvas.paste_code(code, (RIGHT - code.width, top + (height - code.height) // 2))
        beside.draw(canvas, top + (height - beside.height) // 2)

    return Block(height, draw)


_NAMES: Final = tuple(Style(Weight.EXTRA_BOLD, size, 64) for size in (48, 36))
_MARK, _MARK_RADIUS, _MARK_GAP = 68, 19, 20
_PAGE_TOP, _PAGE_BOTTOM, _BRAND_GAP, _CARD_RADIUS = 48, 44, 28, 48
_CARD_TOP = _PAGE_TOP + _MARK + _BRAND_GAP
CARD_HEIGHT: Final = WIDTH * 5 // 4 - _CARD_TOP - _PAGE_BOTTOM
"""With a card of this height, a picture is 4:5. Chats cut off the ends of higher ones."""


def fill_card(*blocks: Block, height: int = CARD_HEIGHT) -> Block:
    """Return a card of this height with the blocks below each other, in equal distances."""
    gap = (height - sum(block.height for block in blocks)) // (len(blocks) + 1)
    return Block(height, stack(Block(gap), stack_with_gaps(gap, blocks)).draw)


def render(brand: str, card: Block) -> bytes:
    """Return the picture of a card, with Kirim's logo and name above it. The same facts give the same bytes."""
    return _compose(brand, card, PAGE).png()


def render_for_print(brand: str, blocks: Sequence[Block], width_mm: int) -> bytes:
    """Return the blocks, with Kirim's logo and name above them, as a PDF with one white page of an A size."""
    card = fill_card(*blocks, height=round(WIDTH * math.sqrt(2)) - _CARD_TOP - _PAGE_BOTTOM)
    return _compose(brand, card, CARD).pdf(width_mm)


def _compose(brand: str, card: Block, ground: str) -> Canvas:
    name = fit_fixed(brand, _NAMES, TEXT_WIDTH - _MARK - _MARK_GAP, 1)
    left = MIDDLE - round(_MARK + _MARK_GAP + name.width) // 2
    canvas = Canvas(_CARD_TOP + card.height + _PAGE_BOTTOM, ground)
    canvas.rounded((CARD_LEFT, _CARD_TOP, CARD_RIGHT, _CARD_TOP + card.height), _CARD_RADIUS, CARD, ground)
    canvas.draw_mark((left, _PAGE_TOP), _MARK, _MARK_RADIUS, ground)
    canvas.write(name, (left + _MARK + _MARK_GAP, _PAGE_TOP + (_MARK - name.height) // 2), INK, ground)
    card.draw(canvas, _CARD_TOP)
    return canvas
