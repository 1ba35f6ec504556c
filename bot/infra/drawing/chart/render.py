"""Rendering of charts in the caller's thread. Only `off_loop.py` imports this module in the bot, see there."""

from collections.abc import Sequence

from bot.infra.drawing.block import Block, create_space
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart import heading
from bot.infra.drawing.chart.bars import build_bars
from bot.infra.drawing.chart.facts import BarFacts, ChartFacts, RowFacts
from bot.infra.drawing.chart.layout import CARD_LEFT, CHART, WIDTH
from bot.infra.drawing.chart.line import build_line
from bot.infra.drawing.chart.rows import build_rows
from bot.infra.drawing.palette import PAGE

_CARD_RADIUS, _CARD_PADDING = 44, 48
_GAP = 30


def render_chart(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    """Draw a chart as a PNG, 1080 pixels wide: a line, bars, or rows, by the kind of its facts.

    Pure and synchronous. The same facts give the same bytes.
    """
    parts = _with_gaps(
        [
            heading.build_brand(facts),
            heading.build_headline(facts),
            heading.build_change(facts),
            _build_plot(facts),
            heading.build_columns(facts),
            heading.build_footer(facts),
        ]
    )
    bottom = CARD_LEFT + _CARD_PADDING + sum(part.height for part in parts) + _CARD_PADDING
    canvas = Canvas(WIDTH, bottom + CARD_LEFT, PAGE, CHART)
    heading.draw_card(canvas, CARD_LEFT, bottom, _CARD_RADIUS)
    top = CARD_LEFT + _CARD_PADDING
    for part in parts:
        part.draw(canvas, top)
        top += part.height
    return canvas.png()


def _build_plot(facts: ChartFacts | BarFacts | RowFacts) -> Block:
    match facts:
        case ChartFacts():
            return build_line(facts)
        case BarFacts():
            return build_bars(facts)
        case RowFacts():
            return build_rows(facts)


def _with_gaps(parts: Sequence[Block]) -> list[Block]:
    """Return the blocks that aren't empty, with space between them."""
    shown = [part for part in parts if part.height]
    return [block for part in shown for block in (part, create_space(_GAP))][:-1]
