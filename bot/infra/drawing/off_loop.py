"""Drawing of charts in a separate thread, so that the event loop isn't blocked.

Pillow and all that draws are loaded there, with the first chart, and not at the start: 40 ms and 5 MB.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bot.infra.drawing.chart import BarFacts, ChartFacts, RowFacts

# Receipts, cards and QR codes have threads of their own, so that none waits for another.
_RENDERER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chart")


async def render_chart_off_loop(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    """Draw a chart as a PNG."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _render, facts)


def _render(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    from bot.infra.drawing.chart_drawing import render_chart  # noqa: PLC0415  see the module

    return render_chart(facts)
