"""Charts of rows: a name, a bar to the right of it, and a number at the end. For names that are too long for bars."""

from typing import Final

from bot.infra.drawing.block import MAX_LABEL, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart.facts import Row, RowFacts
from bot.infra.drawing.chart.layout import AREA, FALLEN, LEFT, RIGHT, SMALL, TEXT_WIDTH
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK, INK_2
from bot.infra.drawing.text_layout import Lines, wrap_text

MAX_ROWS: Final = 16
"""The maximum of rows. The first ones are drawn."""

_LABEL_WIDTH, _VALUE_WIDTH = TEXT_WIDTH * 3 // 10, TEXT_WIDTH * 9 // 40
_GAP, _ROW_GAP = 24, 20
_THICKNESS, _MIN_LENGTH = 30, 6


def build_rows(facts: RowFacts) -> Block:
    """Return the rows. A bar is strong up to `share` and pale up to `reach`. Marked rows have another colour."""
    rows = [(row, _fit(row.label, _LABEL_WIDTH), _fit(row.value, _VALUE_WIDTH)) for row in facts.rows[:MAX_ROWS]]
    step = SMALL.leading + _ROW_GAP

    def draw(canvas: Canvas, top: int) -> None:
        for place, (row, label, value) in enumerate(rows):
            above = top + place * step
            canvas.write_lines(label, (LEFT, above), INK, CARD)
            canvas.write_lines(value, (RIGHT, above), INK_2, CARD, align="right")
            _draw_bar(canvas, row, above + (SMALL.leading - _THICKNESS) // 2)

    return Block(len(rows) * step - _ROW_GAP if rows else 0, draw)


def _draw_bar(canvas: Canvas, row: Row, top: int) -> None:
    left, right = LEFT + _LABEL_WIDTH + _GAP, RIGHT - _VALUE_WIDTH - _GAP
    for share, ink in ((row.reach, AREA), (row.share, FALLEN if row.is_marked else ACCENT)):
        length = round(min(max(share, 0.0), 1.0) * (right - left))
        if length > 0:
            canvas.fill((left, top, left + max(length, _MIN_LENGTH), top + _THICKNESS), ink)


def _fit(text: str, width: int) -> Lines:
    return wrap_text(make_drawable(text, MAX_LABEL), SMALL, width, 1)
