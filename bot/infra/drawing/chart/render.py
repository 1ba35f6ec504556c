"""Rendering of charts, in the caller's thread or in a separate one."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from bot.infra.drawing.block import Block, create_space
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.chart import heading
from bot.infra.drawing.chart.bars import build_bars
from bot.infra.drawing.chart.facts import BarFacts, ChartFacts, RowFacts, SheetFacts
from bot.infra.drawing.chart.layout import CARD_LEFT, CHART, WIDTH
from bot.infra.drawing.chart.line import build_line
from bot.infra.drawing.chart.rows import build_rows
from bot.infra.drawing.palette import PAGE

_CARD_RADIUS, _CARD_PADDING = 44, 48
_GAP = 30

# A separate thread from that of receipts, so that neither waits for the other.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chart")


def render_chart(facts: ChartFacts) -> bytes:
    """Draw a line chart as a PNG, 1080 pixels wide. Pure and synchronous. The same facts give the same bytes."""
    return _render(facts, build_line(facts))


def render_bars(facts: BarFacts) -> bytes:
    """Draw a bar chart as a PNG, 1080 pixels wide. Pure and synchronous. The same facts give the same bytes."""
    return _render(facts, build_bars(facts))


def render_rows(facts: RowFacts) -> bytes:
    """Draw a chart of rows as a PNG, 1080 pixels wide. Pure and synchronous. The same facts give the same bytes."""
    return _render(facts, build_rows(facts))


async def render_chart_off_loop(facts: ChartFacts) -> bytes:
    """Draw as `render_chart` does, without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_chart, facts)


async def render_bars_off_loop(facts: BarFacts) -> bytes:
    """Draw as `render_bars` does, without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_bars, facts)


async def render_rows_off_loop(facts: RowFacts) -> bytes:
    """Draw as `render_rows` does, without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_rows, facts)


def _render(facts: SheetFacts, plot: Block) -> bytes:
    parts = _with_gaps(
        [
            heading.build_brand(facts),
            heading.build_headline(facts),
            heading.build_change(facts),
            plot,
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


def _with_gaps(parts: Sequence[Block]) -> list[Block]:
    """Return the blocks that aren't empty, with space between them."""
    shown = [part for part in parts if part.height]
    return [block for part in shown for block in (part, create_space(_GAP))][:-1]
