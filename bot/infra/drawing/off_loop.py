"""Draw in a separate thread, so that the event loop isn't blocked.

Pillow and all that draws are loaded there, with the first picture, and not at the start: 40 ms and 5 MB.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bot.infra.drawing.chart import BarFacts, ChartFacts, RowFacts

F = TypeVar("F")


def draw_off_loop(name: str, draw: Callable[[F], bytes]) -> Callable[[F], Awaitable[bytes]]:
    """Return `draw` as a function to await. Its pictures are drawn one after another, in one thread of their own.

    So many at once don't compete with the event loop, and don't delay pictures of other kinds, nor QR codes.
    """
    renderer = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def draw_in_thread(facts: F) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(renderer, draw, facts)

    return draw_in_thread


def _render_chart(facts: ChartFacts | BarFacts | RowFacts) -> bytes:
    from bot.infra.drawing.chart_drawing import render_chart  # noqa: PLC0415  see the module

    return render_chart(facts)


render_chart_off_loop = draw_off_loop("chart", _render_chart)
"""Draw a chart as a PNG."""
