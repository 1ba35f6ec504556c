"""The ground of a chart: lines across with their labels on the right, and what stands below."""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.pictures.block import WORD
from bot.pictures.canvas import Canvas
from bot.pictures.chart.facts import Mark
from bot.pictures.chart.layout import LEFT, PLOT_HEIGHT, RIGHT, SMALL, TEXT_WIDTH
from bot.pictures.lettering import wrapped
from bot.pictures.letters import drawable
from bot.pictures.palette import CARD, INK_2, LINE

LABELS_BELOW = 16 + SMALL.leading
"""What the labels below a plot need."""

_LABEL_GAP, _BETWEEN = 20, 24
_WIDEST = TEXT_WIDTH // 3
_THICKNESS = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """Where a chart is drawn: from `LEFT` to `right`, and `PLOT_HEIGHT` down from `top`."""

    top: int
    right: int

    @property
    def width(self) -> int:
        """Pixels."""
        return self.right - LEFT

    def x(self, share: float) -> int:
        """The place of a share from the left."""
        return LEFT + round(_within(share) * self.width)

    def y(self, share: float) -> int:
        """The place of a share from the bottom."""
        return self.top + round((1 - _within(share)) * PLOT_HEIGHT)


def right_of(levels: Iterable[Mark]) -> int:
    """Where the plot ends, so that the labels of its levels have room beside it."""
    widths = [SMALL.width(_text(mark.label)) for mark in levels]
    return RIGHT - round(max(widths) + _LABEL_GAP) if widths else RIGHT


def draw_levels(canvas: Canvas, plot: Plot, levels: Iterable[Mark]) -> None:
    """Lines across, each with its label."""
    for mark in levels:
        y = plot.y(mark.share)
        canvas.fill((LEFT, y - _THICKNESS // 2, plot.right, y + _THICKNESS // 2), LINE)
        top = y - SMALL.leading // 2
        canvas.write(_text(mark.label), SMALL, (RIGHT, SMALL.baseline(top)), INK_2, CARD, align="right")


def draw_below(canvas: Canvas, plot: Plot, marks: Iterable[Mark]) -> None:
    """Labels below their places; one that would run into the one before is left out."""
    baseline = SMALL.baseline(plot.top + PLOT_HEIGHT + LABELS_BELOW - SMALL.leading)
    free_from = LEFT
    for mark in marks:
        text = _text(mark.label)
        half = round(SMALL.width(text) / 2)
        middle = min(max(plot.x(mark.share), LEFT + half), RIGHT - half)
        if middle - half >= free_from:
            canvas.write(text, SMALL, (middle, baseline), INK_2, CARD, align="middle")
            free_from = middle + half + _BETWEEN


def _text(label: str) -> str:
    return "".join(wrapped(drawable(label, WORD), SMALL, _WIDEST, 1).texts)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)
