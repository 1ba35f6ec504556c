"""The parts of a receipt, from its headline to the code with which anyone can verify it.

A chat shows the picture at a third of its width, so no text is smaller than 34 pixels. All measures are in pixels.
"""

from typing import Final

from PIL import Image, ImageOps

from bot.infra.drawing import shapes
from bot.infra.drawing.block import MAX_LABEL, MAX_PASSAGE, MAX_SENTENCE, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK, INK_2, LINE, PAGE, SENT
from bot.infra.drawing.text_layout import Lines, Style, Weight, fit_text, wrap_fixed_text
from bot.orders.receipts.picture.facts import ReceiptFacts
from bot.payments import qr

WIDTH: Final = 1080
CARD_LEFT: Final = 40
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 108
"""Where text begins. It ends at `RIGHT`."""

RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
MIDDLE: Final = WIDTH // 2
LABEL: Final = Style(Weight.MEDIUM, 36, 50)
SMALL: Final = Style(Weight.MEDIUM, 34, 48)

_TITLES = (Style(Weight.BOLD, 48, 64), Style(Weight.BOLD, 42, 56))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.3)) for size in (136, 120, 104, 88, 72))
_SUBTITLES = (Style(Weight.MEDIUM, 42, 58), Style(Weight.MEDIUM, 38, 52))
_VALUES = (Style(Weight.BOLD, 38, 50), Style(Weight.BOLD, 36, 50))

_BADGE, _BADGE_RING, _TICK = 152, 18, 17
_BADGE_BELOW = _BADGE // 2 + _BADGE_RING
_NOTCH = 26
_DASH, _DASH_GAP, _DASH_THICKNESS = 14, 11, 3
_LABEL_SHARE = 0.42
_ROW_GAP, _COLUMN_GAP = 26, 36


BADGE_ABOVE: Final = _BADGE_BELOW
"""The height of the badge's part above the card's upper edge."""

QR_SIDE: Final = 290
"""The least side of the QR code. A module is then 7 or 8 pixels, which cameras still read at a third of the size."""

_QR_GAP = 52
_CODE = Style(Weight.BOLD, 62, 92)
_CELL = 62


def draw_badge() -> Block:
    """Return the tick on the card's upper edge. Half of it is above its block."""
    ring = _BADGE + 2 * _BADGE_RING

    def draw(canvas: Canvas, top: int) -> None:
        above = shapes.draw_disc(ring).crop((0, 0, ring, ring // 2))
        canvas.draw_shape(above, (MIDDLE - ring // 2, top - ring // 2), CARD, PAGE)
        at = (MIDDLE - _BADGE // 2, top - _BADGE // 2)
        canvas.draw_shape(shapes.draw_disc(_BADGE), at, SENT, CARD)
        canvas.draw_shape(shapes.draw_check(_BADGE, _TICK), at, CARD, SENT)

    return Block(_BADGE_BELOW, draw)


def draw_headline(facts: ReceiptFacts) -> Block:
    """Return the headline: the rupiah were sent, how many, and to whom."""
    parts = (
        (fit_text(make_drawable(facts.title, MAX_SENTENCE), _TITLES, TEXT_WIDTH, 2), SENT, True),
        (fit_text(make_drawable(facts.amount, MAX_LABEL), _AMOUNTS, TEXT_WIDTH, 4), INK, False),
        (fit_text(make_drawable(facts.subtitle, MAX_SENTENCE), _SUBTITLES, TEXT_WIDTH, 3), INK_2, False),
    )

    def draw(canvas: Canvas, top: int) -> None:
        for lines, ink, is_fixed in parts:
            canvas.write_lines(lines, (MIDDLE, top), ink, CARD, align="middle", is_fixed=is_fixed)
            top += lines.height

    return Block(sum(lines.height for lines, *_ in parts), draw)


def draw_perforation() -> Block:
    """Return a dashed line between two notches."""

    def draw(canvas: Canvas, top: int) -> None:
        notch = shapes.draw_disc(2 * _NOTCH)
        canvas.draw_shape(notch.crop((_NOTCH, 0, 2 * _NOTCH, 2 * _NOTCH)), (CARD_LEFT, top), PAGE, CARD)
        canvas.draw_shape(notch.crop((0, 0, _NOTCH, 2 * _NOTCH)), (CARD_RIGHT - _NOTCH, top), PAGE, CARD)
        line = top + _NOTCH - _DASH_THICKNESS // 2
        for x in range(LEFT, RIGHT - _DASH + 1, _DASH + _DASH_GAP):
            canvas.fill((x, line, x + _DASH, line + _DASH_THICKNESS), LINE)

    return Block(2 * _NOTCH, draw)


def draw_rows(facts: ReceiptFacts) -> Block:
    """Return the facts, with labels on the left and values on the right."""
    pairs = [_row(make_drawable(label, MAX_LABEL), make_drawable(value, MAX_SENTENCE)) for label, value in facts.rows]

    def draw(canvas: Canvas, top: int) -> None:
        for label, value in pairs:
            canvas.write_lines(label, (LEFT, top), INK_2, CARD, is_fixed=True)
            canvas.write_lines(value, (RIGHT, top), INK, CARD, align="right")
            top += max(label.height, value.height) + _ROW_GAP

    heights = [max(label.height, value.height) for label, value in pairs]
    return Block(sum(heights) + _ROW_GAP * max(len(heights) - 1, 0), draw)


def _row(label: str, value: str) -> tuple[Lines, Lines]:
    named = wrap_fixed_text(label, LABEL, round(TEXT_WIDTH * _LABEL_SHARE), 3)
    return named, fit_text(value, _VALUES, TEXT_WIDTH - round(named.width) - _COLUMN_GAP, 4)


def draw_explanation(facts: ReceiptFacts) -> Block:
    """Return the text that explains what "sent" means."""
    lines = wrap_fixed_text(make_drawable(facts.explanation, MAX_PASSAGE), SMALL, TEXT_WIDTH, 10)
    return Block(lines.height, lambda canvas, top: canvas.write_lines(lines, (LEFT, top), INK_2, CARD, is_fixed=True))


def draw_proof(facts: ReceiptFacts) -> Block:
    """Return the code with its label and hint, and the QR code beside them."""
    picture = _draw_qr(facts.verify_url) if facts.verify_url else None
    width = TEXT_WIDTH - (picture.width + _QR_GAP if picture else 0)
    label = wrap_fixed_text(make_drawable(facts.code_label, MAX_SENTENCE), LABEL, width, 2)
    code = make_drawable(facts.code, MAX_LABEL)
    hint = wrap_fixed_text(make_drawable(facts.code_hint, MAX_PASSAGE), SMALL, width, 6)
    height = label.height + _CODE.leading + hint.height

    def draw(canvas: Canvas, top: int) -> None:
        if picture:
            canvas.paste_code(picture, (RIGHT - picture.width, top))
        canvas.write_lines(label, (LEFT, top), INK_2, CARD, is_fixed=True)
        _write_code(canvas, code, top + label.height, width)
        canvas.write_lines(hint, (LEFT, top + label.height + _CODE.leading), INK_2, CARD, is_fixed=True)

    return Block(max(height, picture.height if picture else 0), draw)


def _write_code(canvas: Canvas, code: str, top: int, width: int) -> None:
    """Write each character in the middle of its own cell, so that none is overlooked."""
    cell = min(_CELL, width / max(len(code), 1))
    style = Style(_CODE.weight, round(_CODE.size * cell / _CELL), _CODE.leading)
    # The first character is aligned with the lines above and below.
    first = LEFT + style.width(code[:1]) / 2
    for place, character in enumerate(code):
        at = (round(first + place * cell), style.baseline(top))
        canvas.write(character, style, at, ACCENT, CARD, align="middle", is_fixed=True)


def _draw_qr(url: str) -> Image.Image:
    """Return the QR code without its quiet zone, because the white card around it is wider."""
    picture = qr.render(url, min_side_px=QR_SIDE).convert("L")
    return picture.crop(ImageOps.invert(picture).getbbox())
