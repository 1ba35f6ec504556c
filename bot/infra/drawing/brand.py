"""Kirim's mark and name, above the card of a picture. All measures are in pixels."""

from typing import Final

from bot.infra.drawing import shapes
from bot.infra.drawing.block import MAX_LABEL, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK, PAGE
from bot.infra.drawing.text_layout import Style, Weight, fit_text

_NAMES: Final = tuple(Style(Weight.EXTRA_BOLD, size, 64) for size in (48, 36))
_MARK, _MARK_RADIUS, _MARK_GAP = 68, 19, 20


def draw_brand(brand: str, middle: int, width: int) -> Block:
    """Return the mark and the name, centred at `middle` and no wider than `width`."""
    name = fit_text(make_drawable(brand, MAX_LABEL), _NAMES, width - _MARK - _MARK_GAP, 1)

    def draw(canvas: Canvas, top: int) -> None:
        left = middle - round(_MARK + _MARK_GAP + name.width) // 2
        canvas.draw_shape(shapes.draw_rounded_square(_MARK, _MARK_RADIUS), (left, top), ACCENT, PAGE)
        canvas.draw_shape(shapes.draw_bolt(_MARK), (left, top), CARD, ACCENT)
        below = top + (_MARK - name.height) // 2
        canvas.write_lines(name, (left + _MARK + _MARK_GAP, below), INK, PAGE, is_fixed=True)

    return Block(_MARK, draw)
