"""A line chart, with the area below the line. It is drawn at four times the size and shrunk once."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from PIL import Image, ImageChops, ImageDraw

from bot.infra.drawing import shapes
from bot.infra.drawing.block import Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart.axes import LABELS_BELOW, Plot, draw_below, draw_levels, get_right_edge
from bot.infra.drawing.chart.facts import ChartFacts
from bot.infra.drawing.chart.layout import AREA, LEFT, PLOT_HEIGHT
from bot.infra.drawing.palette import ACCENT, CARD, LINE, SOFT

_FINER = 4
_THICKNESS, _DASH_THICKNESS = 6, 4
_DASH, _DASH_GAP = 14, 12
_EDGE = 20
"""Margin around the plot for the thickness of the line and the dot at its end."""

_DOT, _RING = 26, 42
_POINT = 16

_Points = Sequence[tuple[int, int]]


def build_line(facts: ChartFacts) -> Block:
    """Return the levels, the area, the line and the times."""
    right = get_right_edge(facts.levels) - _RING // 2

    def draw(canvas: Canvas, top: int) -> None:
        plot = Plot(top, right)
        runs = [[(plot.x(x), plot.y(y)) for x, y in run] for run in facts.runs if run]
        _draw_area(canvas, plot, runs)
        draw_levels(canvas, plot, facts.levels)
        _draw_runs(canvas, plot, runs)
        draw_below(canvas, plot, facts.times)

    return Block(PLOT_HEIGHT + LABELS_BELOW, draw)


def _draw_area(canvas: Canvas, plot: Plot, runs: Sequence[_Points]) -> None:
    """Draw the area below the line, fading towards the bottom."""
    mask = _create_sheet(plot)
    draw = ImageDraw.Draw(mask)
    bottom = plot.top + PLOT_HEIGHT
    for run in runs:
        outline = [(run[0][0], bottom), *run, (run[-1][0], bottom)]
        draw.polygon([_enlarge(plot, point) for point in outline], fill=255)
    small = _shrink(mask)
    canvas.draw_shape(
        ImageChops.multiply(small, _create_gradient(small.width, small.height)), _get_corner(plot), AREA, CARD
    )


def _draw_runs(canvas: Canvas, plot: Plot, runs: Sequence[_Points]) -> None:
    dashes, mask = _create_sheet(plot), _create_sheet(plot)
    on_dashes, draw = ImageDraw.Draw(dashes), ImageDraw.Draw(mask)
    for before, after in pairwise(runs):
        _draw_dashes(on_dashes, _enlarge(plot, before[-1]), _enlarge(plot, after[0]))
    for run in runs:
        points = [_enlarge(plot, point) for point in run]
        draw.line(points, fill=255, width=_THICKNESS * _FINER, joint="curve")
        for point in (points[0], points[-1]):
            _draw_dot(draw, point, (_THICKNESS if len(run) > 1 else _POINT) * _FINER / 2)
    canvas.draw_shape(_shrink(dashes), _get_corner(plot), LINE, CARD)
    canvas.draw_shape(_shrink(mask), _get_corner(plot), ACCENT, CARD)
    if runs:
        x, y = runs[-1][-1]
        canvas.draw_shape(shapes.draw_disc(_RING), (x - _RING // 2, y - _RING // 2), CARD, SOFT)
        canvas.draw_shape(shapes.draw_disc(_DOT), (x - _DOT // 2, y - _DOT // 2), ACCENT, CARD)


def _draw_dashes(draw: ImageDraw.ImageDraw, begin: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw a dashed line across unknown values."""
    (left, top), (right, bottom) = begin, end
    length = max(((right - left) ** 2 + (bottom - top) ** 2) ** 0.5, 1.0)
    step = (_DASH + _DASH_GAP) * _FINER
    for place in range(0, int(length), step):
        ends = (place / length, min(place + _DASH * _FINER, length) / length)
        points = [(left + (right - left) * share, top + (bottom - top) * share) for share in ends]
        draw.line(points, fill=255, width=_DASH_THICKNESS * _FINER)


def _draw_dot(draw: ImageDraw.ImageDraw, middle: tuple[int, int], radius: float) -> None:
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def _create_sheet(plot: Plot) -> Image.Image:
    return Image.new("L", ((plot.width + 2 * _EDGE) * _FINER, (PLOT_HEIGHT + 2 * _EDGE) * _FINER))


def _shrink(sheet: Image.Image) -> Image.Image:
    return sheet.reduce(_FINER)


def _get_corner(plot: Plot) -> tuple[int, int]:
    return LEFT - _EDGE, plot.top - _EDGE


def _enlarge(plot: Plot, point: tuple[int, int]) -> tuple[int, int]:
    """Convert a point of the canvas to the enlarged picture."""
    left, top = _get_corner(plot)
    return (point[0] - left) * _FINER, (point[1] - top) * _FINER


@lru_cache(maxsize=4)
def _create_gradient(width: int, height: int) -> Image.Image:
    """Return a gradient from white at the top to black at the bottom."""
    return ImageChops.invert(Image.linear_gradient("L").resize((width, height)))
