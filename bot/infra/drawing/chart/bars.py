"""Bar charts."""

from collections.abc import Sequence
from typing import Final

from bot.infra.drawing.block import MAX_LABEL, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart.axes import LABELS_BELOW, Plot, draw_below, draw_levels, get_right_edge
from bot.infra.drawing.chart.facts import Bar, BarFacts, Mark
from bot.infra.drawing.chart.layout import AREA, LEFT, PLOT_HEIGHT, SMALL
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK

MAX_BARS: Final = 62
"""The maximum of bars. More wouldn't be distinguishable, so only the last ones are drawn."""

_SHARE_OF_STEP, _WIDEST, _RADIUS = 0.68, 120, 12
_MIN_HEIGHT = 6
"""Minimum height of a bar that isn't zero."""

_VALUE_GAP = 6


def build_bars(facts: BarFacts) -> Block:
    """Return the levels, the bars, and their labels. The last bar is the current one and has the strongest colour."""
    right = get_right_edge(facts.levels)
    shown = facts.bars[-MAX_BARS:]
    with_values = _do_values_fit(shown, (right - LEFT) / max(len(shown), 1))
    above = SMALL.leading + _VALUE_GAP if with_values else 0

    def draw(canvas: Canvas, top: int) -> None:
        plot = Plot(top + above, right)
        draw_levels(canvas, plot, facts.levels)
        for place, bar in enumerate(shown):
            middle, width = _locate_bar(plot, place, len(shown))
            high = _draw_bar(canvas, plot, bar, (middle, width), is_last=place == len(shown) - 1)
            if with_values and bar.value:
                at = (middle, SMALL.baseline(high - SMALL.leading - _VALUE_GAP))
                canvas.write(make_drawable(bar.value, MAX_LABEL), SMALL, at, INK, CARD, align="middle")
        draw_below(canvas, plot, [Mark((place + 0.5) / len(shown), bar.label) for place, bar in enumerate(shown)])

    return Block(above + PLOT_HEIGHT + LABELS_BELOW, draw)


def _locate_bar(plot: Plot, place: int, count: int) -> tuple[int, int]:
    """Return the middle and the width of a bar."""
    step = plot.width / count
    return LEFT + round((place + 0.5) * step), max(min(round(step * _SHARE_OF_STEP), _WIDEST), 2)


def _draw_bar(canvas: Canvas, plot: Plot, bar: Bar, at: tuple[int, int], *, is_last: bool) -> int:
    """Draw a bar with a round top. Return the y of its top."""
    middle, width = at
    foot = plot.y(0)
    top = min(plot.y(bar.share), foot - _MIN_HEIGHT) if bar.share > 0 else foot
    left, radius = middle - width // 2, min(_RADIUS, width // 2, foot - top)
    ink = ACCENT if is_last else AREA
    if radius > 0:
        canvas.rounded((left, top, left + width, top + 2 * radius), radius, ink, CARD)
        canvas.fill((left, top + radius, left + width, foot), ink)
    return top


def _do_values_fit(shown: Sequence[Bar], step: float) -> bool:
    """Return whether no value overlaps the next one."""
    return any(bar.value for bar in shown) and all(
        SMALL.width(make_drawable(bar.value, MAX_LABEL)) + _VALUE_GAP <= step for bar in shown
    )
