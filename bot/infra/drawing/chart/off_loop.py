"""Rendering of charts in a separate thread.

Pillow and all that draws are loaded there, with the first chart, and not at the start: 40 ms and 5 MB.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from bot.infra.drawing.chart.facts import BarFacts, ChartFacts, RowFacts

# A separate thread from that of receipts, so that neither waits for the other.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chart")


async def render_chart_off_loop(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    """Draw as `render_chart` does, without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _render, facts)


def _render(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    from bot.infra.drawing.chart.render import render_chart  # noqa: PLC0415  see the module

    return render_chart(facts)
