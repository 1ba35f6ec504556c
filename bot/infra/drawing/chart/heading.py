"""The parts around every chart: brand, title, main number, and the numbers below."""

from typing import Final

from bot.infra.drawing import shapes
from bot.infra.drawing.block import MAX_LABEL, MAX_SENTENCE, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart.facts import SheetFacts, Trend
from bot.infra.drawing.chart.layout import (
    CARD_LEFT,
    CARD_RIGHT,
    FALLEN,
    FALLEN_GROUND,
    LEFT,
    RIGHT,
    RISEN_GROUND,
    SMALL,
    TEXT_WIDTH,
)
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK, INK_2, LINE, SENT, SOFT
from bot.infra.drawing.text_layout import Lines, Style, Weight, fit_text, wrap_text

_BRAND = Style(Weight.EXTRA_BOLD, 44, 60)
_PILLS = tuple(Style(Weight.BOLD, size, 52) for size in (38, 34))
_TITLE = Style(Weight.MEDIUM, 42, 56)
_NUMBERS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.25)) for size in (108, 96, 84, 72, 60))
_NOTES = tuple(Style(Weight.MEDIUM, size, 52) for size in (36, 34))
_VALUES = tuple(Style(Weight.BOLD, size, 52) for size in (42, 38, 34))

_MARK, _MARK_RADIUS, _MARK_GAP = 60, 17, 18
_PILL_X, _PILL_HEIGHT = 26, 68
_NOTE_GAP, _COLUMN_GAP, _COLUMNS_TOP = 24, 28, 30
_LINE_THICKNESS = 2

_CHANGE_COLOURS: Final = {
    Trend.UP: (SENT, RISEN_GROUND),
    Trend.DOWN: (FALLEN, FALLEN_GROUND),
    Trend.FLAT: (INK_2, SOFT),
}
"""Ink and background."""


def build_brand(facts: SheetFacts) -> Block:
    """Return Kirim's logo and name on the left, the period on the right."""
    pill = fit_text(make_drawable(facts.period, MAX_LABEL), _PILLS, TEXT_WIDTH // 2, 1)
    available = TEXT_WIDTH - _MARK - _MARK_GAP - round(pill.width) - 2 * _PILL_X - _COLUMN_GAP
    name = wrap_text(make_drawable(facts.brand, MAX_LABEL), _BRAND, available, 1)

    def draw(canvas: Canvas, top: int) -> None:
        below = top + (_PILL_HEIGHT - _MARK) // 2
        canvas.draw_shape(shapes.draw_rounded_square(_MARK, _MARK_RADIUS), (LEFT, below), ACCENT, CARD)
        canvas.draw_shape(shapes.draw_bolt(_MARK), (LEFT, below), CARD, ACCENT)
        canvas.write_lines(name, (LEFT + _MARK + _MARK_GAP, below), INK, CARD)
        _draw_pill(canvas, pill, RIGHT - _measure_pill(pill), top, (ACCENT, SOFT))

    return Block(_PILL_HEIGHT, draw)


def build_headline(facts: SheetFacts) -> Block:
    """Return the title and the main number."""
    title = wrap_text(make_drawable(facts.title, MAX_SENTENCE), _TITLE, TEXT_WIDTH, 1)
    number = fit_text(make_drawable(facts.main_number, MAX_LABEL), _NUMBERS, TEXT_WIDTH, 1)

    def draw(canvas: Canvas, top: int) -> None:
        canvas.write_lines(title, (LEFT, top), INK_2, CARD)
        canvas.write_lines(number, (LEFT, top + title.height), INK, CARD)

    return Block(title.height + number.height, draw)


def build_change(facts: SheetFacts) -> Block:
    """Return the change, in the colour of its direction, and since when."""
    pill = fit_text(make_drawable(facts.change, MAX_LABEL), _PILLS, TEXT_WIDTH // 2, 1)
    taken = _measure_pill(pill) + _NOTE_GAP if pill.texts else 0
    note = fit_text(make_drawable(facts.note, MAX_SENTENCE), _NOTES, TEXT_WIDTH - taken, 1)

    def draw(canvas: Canvas, top: int) -> None:
        _draw_pill(canvas, pill, LEFT, top, _CHANGE_COLOURS[facts.trend])
        below = top + (_PILL_HEIGHT - note.style.leading) // 2
        canvas.write_lines(note, (LEFT + taken, below), INK_2, CARD)

    return Block(_PILL_HEIGHT if pill.texts or note.texts else 0, draw)


def build_columns(facts: SheetFacts) -> Block:
    """Return a line with the smaller numbers side by side below it."""
    count = max(len(facts.columns), 1)
    width = (TEXT_WIDTH - _COLUMN_GAP * (count - 1)) // count
    cells = [
        (
            wrap_text(make_drawable(label, MAX_LABEL), SMALL, width, 1),
            fit_text(make_drawable(value, MAX_LABEL), _VALUES, width, 1),
        )
        for label, value in facts.columns
    ]

    def draw(canvas: Canvas, top: int) -> None:
        canvas.fill((LEFT, top, RIGHT, top + _LINE_THICKNESS), LINE)
        for place, (label, value) in enumerate(cells):
            left = LEFT + place * (width + _COLUMN_GAP)
            canvas.write_lines(label, (left, top + _COLUMNS_TOP), INK_2, CARD)
            canvas.write_lines(value, (left, top + _COLUMNS_TOP + SMALL.leading), INK, CARD)

    return Block(_COLUMNS_TOP + SMALL.leading + _VALUES[0].leading if cells else 0, draw)


def build_footer(facts: SheetFacts) -> Block:
    """Return the time and source of the data."""
    lines = wrap_text(make_drawable(facts.footer, MAX_SENTENCE), SMALL, TEXT_WIDTH, 2)
    return Block(lines.height, lambda canvas, top: canvas.write_lines(lines, (LEFT, top), INK_2, CARD))


def draw_card(canvas: Canvas, top: int, bottom: int, radius: int) -> None:
    """Draw the white card behind everything."""
    canvas.rounded((CARD_LEFT, top, CARD_RIGHT, bottom), radius, CARD, "page")


def _measure_pill(text: Lines) -> int:
    return round(text.width) + 2 * _PILL_X


def _draw_pill(canvas: Canvas, text: Lines, left: int, top: int, colours: tuple[str, str]) -> None:
    """Draw a text on a background with round ends."""
    if not text.texts:
        return
    ink, ground = colours
    canvas.rounded((left, top, left + _measure_pill(text), top + _PILL_HEIGHT), _PILL_HEIGHT // 2, ground, CARD)
    below = top + (_PILL_HEIGHT - text.style.leading) // 2
    canvas.write_lines(text, (left + _PILL_X, below), ink, ground)
