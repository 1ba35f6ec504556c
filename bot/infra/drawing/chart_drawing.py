"""Charts: a line, bars, or rows, with a title and a number above, and smaller numbers below.

Only `off_loop.py` imports this module in the bot, in the thread that draws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from PIL import Image, ImageChops, ImageDraw

from bot.infra.drawing.chart import Bar, BarFacts, ChartFacts, Mark, Row, RowFacts, SheetFacts, Trend
from bot.infra.drawing.picture import (
    ACCENT,
    AREA,
    CARD,
    FALLEN,
    FALLEN_GROUND,
    INK,
    INK_2,
    LINE,
    PAGE,
    RISEN_GROUND,
    SENT,
    SOFT,
    WIDTH,
    Block,
    Canvas,
    Lines,
    Style,
    Weight,
    draw_disc,
    fit,
    stack,
    stack_with_gaps,
    text_block,
)

CARD_LEFT: Final = 28
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 80
"""The left edge of text. `RIGHT` is the other edge."""

RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
PLOT_HEIGHT: Final = 420
_CARD_RADIUS, _CARD_PADDING, _GAP = 44, 48, 30

SMALL: Final = Style(Weight.MEDIUM, 34, 46)
LABELS_BELOW: Final = 16 + SMALL.leading
"""Height of the labels below a plot."""

MAX_BARS: Final = 62
"""The maximum of bars. More wouldn't be distinguishable, so only the last ones are drawn."""

MAX_ROWS: Final = 16
"""The maximum of rows. The first ones are drawn."""

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

_LABEL_GAP, _BETWEEN = 20, 24
_BAR_SHARE, _BAR_WIDEST, _BAR_RADIUS = 0.68, 120, 12
_BAR_LEAST = 6
"""Minimum height of a bar that isn't zero."""

_VALUE_GAP = 6
_ROW_LABEL, _ROW_VALUE, _ROW_GAP_X, _ROW_GAP = TEXT_WIDTH * 3 // 10, TEXT_WIDTH * 9 // 40, 24, 20
_ROW_THICKNESS, _ROW_LEAST = 30, 6

_FINER = 4
_THICKNESS, _DASH_THICKNESS = 6, 4
_DASH, _DASH_GAP = 14, 12
_EDGE = 20
"""Margin around the plot for the thickness of the line and the dot at its end."""

_DOT, _RING, _POINT = 26, 42, 16

_Points = Sequence[tuple[int, int]]


def render_chart(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    """Draw a chart as a PNG: a line, bars, or rows, by the kind of its facts. The same facts give the same bytes."""
    footer = text_block(fit(facts.footer, SMALL, TEXT_WIDTH, 2), LEFT, INK_2)
    parts = [_brand(facts), _headline(facts), _change(facts), _plot(facts), _columns(facts), footer]
    card = stack_with_gaps(_GAP, parts)
    bottom = CARD_LEFT + card.height + 2 * _CARD_PADDING
    canvas = Canvas(bottom + CARD_LEFT)
    canvas.rounded((CARD_LEFT, CARD_LEFT, CARD_RIGHT, bottom), _CARD_RADIUS, CARD, PAGE)
    card.draw(canvas, CARD_LEFT + _CARD_PADDING)
    return canvas.png()


def _brand(facts: SheetFacts) -> Block:
    """Return Kirim's logo and name on the left, the period on the right."""
    pill = fit(facts.period, _PILLS, TEXT_WIDTH // 2)
    name = fit(facts.brand, _BRAND, TEXT_WIDTH - _MARK - _MARK_GAP - _measure_pill(pill) - _COLUMN_GAP)

    def draw(canvas: Canvas, top: int) -> None:
        below = top + (_PILL_HEIGHT - _MARK) // 2
        canvas.draw_mark((LEFT, below), _MARK, _MARK_RADIUS)
        canvas.write(name, (LEFT + _MARK + _MARK_GAP, below), INK)
        _draw_pill(canvas, pill, RIGHT - _measure_pill(pill), top, (ACCENT, SOFT))

    return Block(_PILL_HEIGHT, draw)


def _headline(facts: SheetFacts) -> Block:
    """Return the title and the main number."""
    title, number = fit(facts.title, _TITLE, TEXT_WIDTH), fit(facts.main_number, _NUMBERS, TEXT_WIDTH)
    return stack(text_block(title, LEFT, INK_2), text_block(number, LEFT, INK))


def _change(facts: SheetFacts) -> Block:
    """Return the change, in the colour of its direction, and since when."""
    pill = fit(facts.change, _PILLS, TEXT_WIDTH // 2)
    taken = _measure_pill(pill) + _NOTE_GAP if pill.texts else 0
    note = fit(facts.note, _NOTES, TEXT_WIDTH - taken)

    def draw(canvas: Canvas, top: int) -> None:
        _draw_pill(canvas, pill, LEFT, top, _CHANGE_COLOURS[facts.trend])
        canvas.write(note, (LEFT + taken, top + (_PILL_HEIGHT - note.style.leading) // 2), INK_2)

    return Block(_PILL_HEIGHT if pill.texts or note.texts else 0, draw)


def _columns(facts: SheetFacts) -> Block:
    """Return a line with the smaller numbers side by side below it."""
    count = max(len(facts.columns), 1)
    width = (TEXT_WIDTH - _COLUMN_GAP * (count - 1)) // count
    cells = [(fit(label, SMALL, width), fit(value, _VALUES, width)) for label, value in facts.columns]

    def draw(canvas: Canvas, top: int) -> None:
        canvas.fill((LEFT, top, RIGHT, top + _LINE_THICKNESS), LINE)
        for place, (label, value) in enumerate(cells):
            left = LEFT + place * (width + _COLUMN_GAP)
            canvas.write(label, (left, top + _COLUMNS_TOP), INK_2)
            canvas.write(value, (left, top + _COLUMNS_TOP + SMALL.leading), INK)

    return Block(_COLUMNS_TOP + SMALL.leading + _VALUES[0].leading if cells else 0, draw)


def _measure_pill(text: Lines) -> int:
    return round(text.width) + 2 * _PILL_X


def _draw_pill(canvas: Canvas, text: Lines, left: int, top: int, colours: tuple[str, str]) -> None:
    """Draw a text on a background with round ends."""
    if text.texts:
        ink, ground = colours
        canvas.rounded((left, top, left + _measure_pill(text), top + _PILL_HEIGHT), _PILL_HEIGHT // 2, ground)
        canvas.write(text, (left + _PILL_X, top + (_PILL_HEIGHT - text.style.leading) // 2), ink, ground)


def _plot(facts: ChartFacts | BarFacts | RowFacts) -> Block:
    match facts:
        case ChartFacts():
            return _line(facts)
        case BarFacts():
            return _bars(facts)
        case RowFacts():
            return _rows(facts)


@dataclass(frozen=True, slots=True)
class _Plot:
    """The area of a chart: from `LEFT` to `right`, and `PLOT_HEIGHT` down from `top`."""

    top: int
    right: int

    @property
    def width(self) -> int:
        return self.right - LEFT

    def x(self, share: float) -> int:
        """Return the pixel at a share of the width, from the left."""
        return LEFT + round(_clamp(share) * self.width)

    def y(self, share: float) -> int:
        """Return the pixel at a share of the height, from the bottom."""
        return self.top + round((1 - _clamp(share)) * PLOT_HEIGHT)


def _clamp(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _shorten(label: str) -> Lines:
    return fit(label, SMALL, TEXT_WIDTH // 3)


def _get_right_edge(levels: Iterable[Mark]) -> int:
    """Return the right edge of the plot that leaves space for the labels of these levels."""
    widths = [_shorten(mark.label).width for mark in levels]
    return RIGHT - round(max(widths) + _LABEL_GAP) if widths else RIGHT


def _draw_levels(canvas: Canvas, plot: _Plot, levels: Iterable[Mark]) -> None:
    """Draw horizontal lines, each with its label."""
    for mark in levels:
        y = plot.y(mark.share)
        canvas.fill((LEFT, y - _LINE_THICKNESS // 2, plot.right, y + _LINE_THICKNESS // 2), LINE)
        canvas.write(_shorten(mark.label), (RIGHT, y - SMALL.leading // 2), INK_2, align="right")


def _draw_below(canvas: Canvas, plot: _Plot, marks: Sequence[Mark]) -> None:
    """Draw labels below the plot. If they don't all fit, draw every second or third, always including the last."""
    placed = [_locate_label(plot, mark) for mark in reversed(marks)]
    step = next((step for step in range(1, len(placed)) if _are_apart(placed[::step])), max(len(placed), 1))
    for label, middle, _ in placed[::step]:
        at = (middle, plot.top + PLOT_HEIGHT + LABELS_BELOW - SMALL.leading)
        canvas.write(label, at, INK_2, align="middle")


def _locate_label(plot: _Plot, mark: Mark) -> tuple[Lines, int, int]:
    """Return a label, its middle and half its width."""
    label = _shorten(mark.label)
    half = round(label.width / 2)
    return label, min(max(plot.x(mark.share), LEFT + half), RIGHT - half), half


def _are_apart(placed: Sequence[tuple[Lines, int, int]]) -> bool:
    """Return whether no label overlaps its neighbour. The labels come from the right."""
    return all(
        middle - half - before - before_half >= _BETWEEN
        for (_, middle, half), (_, before, before_half) in pairwise(placed)
    )


def _rows(facts: RowFacts) -> Block:
    """Return names with bars beside them. A bar is strong up to `share` and pale up to `reach`."""
    return stack_with_gaps(_ROW_GAP, [_row(row) for row in facts.rows[:MAX_ROWS]])


def _row(row: Row) -> Block:
    label, value = fit(row.label, SMALL, _ROW_LABEL), fit(row.value, SMALL, _ROW_VALUE)
    left, right = LEFT + _ROW_LABEL + _ROW_GAP_X, RIGHT - _ROW_VALUE - _ROW_GAP_X

    def draw(canvas: Canvas, top: int) -> None:
        canvas.write(label, (LEFT, top), INK)
        canvas.write(value, (RIGHT, top), INK_2, align="right")
        above = top + (SMALL.leading - _ROW_THICKNESS) // 2
        for share, ink in ((row.reach, AREA), (row.share, FALLEN if row.is_marked else ACCENT)):
            length = round(_clamp(share) * (right - left))
            if length > 0:
                canvas.fill((left, above, left + max(length, _ROW_LEAST), above + _ROW_THICKNESS), ink)

    return Block(SMALL.leading, draw)


def _bars(facts: BarFacts) -> Block:
    """Return the levels, the bars, and their labels. The last bar is the current one and has the strongest colour."""
    right, shown = _get_right_edge(facts.levels), facts.bars[-MAX_BARS:]
    step = (right - LEFT) / max(len(shown), 1)
    values = [fit(bar.value, SMALL, WIDTH) for bar in shown]
    # No value may overlap the next one.
    are_shown = any(bar.value for bar in shown) and all(value.width + _VALUE_GAP <= step for value in values)
    above = SMALL.leading + _VALUE_GAP if are_shown else 0

    def draw(canvas: Canvas, top: int) -> None:
        plot = _Plot(top + above, right)
        _draw_levels(canvas, plot, facts.levels)
        for place, (bar, value) in enumerate(zip(shown, values, strict=True)):
            middle = LEFT + round((place + 0.5) * step)
            high = _draw_bar(canvas, plot, bar, (middle, step), ACCENT if place == len(shown) - 1 else AREA)
            if are_shown:
                canvas.write(value, (middle, high - above), INK, align="middle")
        _draw_below(canvas, plot, [Mark((place + 0.5) / len(shown), bar.label) for place, bar in enumerate(shown)])

    return Block(above + PLOT_HEIGHT + LABELS_BELOW, draw)


def _draw_bar(canvas: Canvas, plot: _Plot, bar: Bar, at: tuple[int, float], ink: str) -> int:
    """Draw a bar with a round top. Return the y of its top."""
    middle, step = at
    width, foot = max(min(round(step * _BAR_SHARE), _BAR_WIDEST), 2), plot.y(0)
    top = min(plot.y(bar.share), foot - _BAR_LEAST) if bar.share > 0 else foot
    left, radius = middle - width // 2, min(_BAR_RADIUS, width // 2, foot - top)
    if radius > 0:
        canvas.rounded((left, top, left + width, top + 2 * radius), radius, ink)
        canvas.fill((left, top + radius, left + width, foot), ink)
    return top


def _line(facts: ChartFacts) -> Block:
    """Return the levels, the area below the line, the line and the times. The line is drawn large and shrunk once."""
    right = _get_right_edge(facts.levels) - _RING // 2

    def draw(canvas: Canvas, top: int) -> None:
        plot = _Plot(top, right)
        runs = [[(plot.x(x), plot.y(y)) for x, y in run] for run in facts.runs if run]
        _draw_area(canvas, plot, runs)
        _draw_levels(canvas, plot, facts.levels)
        _draw_runs(canvas, plot, runs)
        _draw_below(canvas, plot, facts.times)

    return Block(PLOT_HEIGHT + LABELS_BELOW, draw)


def _draw_area(canvas: Canvas, plot: _Plot, runs: Sequence[_Points]) -> None:
    """Draw the area below the line, fading towards the bottom."""
    mask = _create_sheet(plot)
    draw = ImageDraw.Draw(mask)
    bottom = plot.top + PLOT_HEIGHT
    for run in runs:
        outline = [(run[0][0], bottom), *run, (run[-1][0], bottom)]
        draw.polygon([_enlarge(plot, point) for point in outline], fill=255)
    small = mask.reduce(_FINER)
    canvas.draw_shape(ImageChops.multiply(small, _create_gradient(*small.size)), _get_corner(plot), AREA)


def _draw_runs(canvas: Canvas, plot: _Plot, runs: Sequence[_Points]) -> None:
    dashes, mask = _create_sheet(plot), _create_sheet(plot)
    on_dashes, draw = ImageDraw.Draw(dashes), ImageDraw.Draw(mask)
    for before, after in pairwise(runs):
        _draw_dashes(on_dashes, _enlarge(plot, before[-1]), _enlarge(plot, after[0]))
    for run in runs:
        points = [_enlarge(plot, point) for point in run]
        draw.line(points, fill=255, width=_THICKNESS * _FINER, joint="curve")
        radius = (_THICKNESS if len(run) > 1 else _POINT) * _FINER / 2
        for x, y in (points[0], points[-1]):
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    canvas.draw_shape(dashes.reduce(_FINER), _get_corner(plot), LINE)
    canvas.draw_shape(mask.reduce(_FINER), _get_corner(plot), ACCENT)
    if runs:
        x, y = runs[-1][-1]
        canvas.draw_shape(draw_disc(_RING), (x - _RING // 2, y - _RING // 2), CARD, SOFT)
        canvas.draw_shape(draw_disc(_DOT), (x - _DOT // 2, y - _DOT // 2), ACCENT)


def _draw_dashes(draw: ImageDraw.ImageDraw, begin: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw a dashed line across unknown values."""
    (left, top), (right, bottom) = begin, end
    length = max(((right - left) ** 2 + (bottom - top) ** 2) ** 0.5, 1.0)
    step = (_DASH + _DASH_GAP) * _FINER
    for place in range(0, int(length), step):
        ends = (place / length, min(place + _DASH * _FINER, length) / length)
        points = [(left + (right - left) * share, top + (bottom - top) * share) for share in ends]
        draw.line(points, fill=255, width=_DASH_THICKNESS * _FINER)


def _create_sheet(plot: _Plot) -> Image.Image:
    return Image.new("L", ((plot.width + 2 * _EDGE) * _FINER, (PLOT_HEIGHT + 2 * _EDGE) * _FINER))


def _get_corner(plot: _Plot) -> tuple[int, int]:
    return LEFT - _EDGE, plot.top - _EDGE


def _enlarge(plot: _Plot, point: tuple[int, int]) -> tuple[int, int]:
    """Convert a point of the canvas to the enlarged picture."""
    left, top = _get_corner(plot)
    return (point[0] - left) * _FINER, (point[1] - top) * _FINER


@lru_cache(maxsize=4)
def _create_gradient(width: int, height: int) -> Image.Image:
    """Return a gradient from white at the top to black at the bottom."""
    return ImageChops.invert(Image.linear_gradient("L").resize((width, height)))
