"""The axes of a chart: horizontal lines with labels on the right, and labels below."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.infra.drawing.block import MAX_LABEL
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart.facts import Mark
from bot.infra.drawing.chart.layout import LEFT, PLOT_HEIGHT, RIGHT, SMALL, TEXT_WIDTH
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import CARD, INK_2, LINE
from bot.infra.drawing.text_layout import wrap_text

LABELS_BELOW = 16 + SMALL.leading
"""Height of the labels below a plot."""

_LABEL_GAP, _BETWEEN = 20, 24
_WIDEST = TEXT_WIDTH // 3
_THICKNESS = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """The area of a chart: from `LEFT` to `right`, and `PLOT_HEIGHT` down from `top`."""

    top: int
    right: int

    @property
    def width(self) -> int:
        """Return the width in pixels."""
        return self.right - LEFT

    def x(self, share: float) -> int:
        """Return the pixel at a share of the width, from the left."""
        return LEFT + round(_clamp(share) * self.width)

    def y(self, share: float) -> int:
        """Return the pixel at a share of the height, from the bottom."""
        return self.top + round((1 - _clamp(share)) * PLOT_HEIGHT)


def get_right_edge(levels: Iterable[Mark]) -> int:
    """Return the right edge of the plot that leaves space for the labels of these levels."""
    widths = [SMALL.width(_shorten(mark.label)) for mark in levels]
    return RIGHT - round(max(widths) + _LABEL_GAP) if widths else RIGHT


def draw_levels(canvas: Canvas, plot: Plot, levels: Iterable[Mark]) -> None:
    """Draw horizontal lines, each with its label."""
    for mark in levels:
        y = plot.y(mark.share)
        canvas.fill((LEFT, y - _THICKNESS // 2, plot.right, y + _THICKNESS // 2), LINE)
        top = y - SMALL.leading // 2
        canvas.write(_shorten(mark.label), SMALL, (RIGHT, SMALL.baseline(top)), INK_2, CARD, align="right")


def draw_below(canvas: Canvas, plot: Plot, marks: Sequence[Mark]) -> None:
    """Draw labels below the plot. If they don't all fit, draw every second or third, always including the last."""
    baseline = SMALL.baseline(plot.top + PLOT_HEIGHT + LABELS_BELOW - SMALL.leading)
    placed = [_locate_label(plot, mark) for mark in reversed(marks)]
    step = next((step for step in range(1, len(placed)) if _are_apart(placed[::step])), max(len(placed), 1))
    for text, middle, _ in placed[::step]:
        canvas.write(text, SMALL, (middle, baseline), INK_2, CARD, align="middle")


def _locate_label(plot: Plot, mark: Mark) -> tuple[str, int, int]:
    """Return a label's text, its middle and half its width."""
    text = _shorten(mark.label)
    half = round(SMALL.width(text) / 2)
    return text, min(max(plot.x(mark.share), LEFT + half), RIGHT - half), half


def _are_apart(placed: Sequence[tuple[str, int, int]]) -> bool:
    """Return whether no label overlaps its neighbour. The labels come from the right."""
    return all(
        middle - half - before - before_half >= _BETWEEN
        for (_, middle, half), (_, before, before_half) in pairwise(placed)
    )


def _shorten(label: str) -> str:
    return "".join(wrap_text(make_drawable(label, MAX_LABEL), SMALL, _WIDEST, 1).texts)


def _clamp(share: float) -> float:
    return min(max(share, 0.0), 1.0)
