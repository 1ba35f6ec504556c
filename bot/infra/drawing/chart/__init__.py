"""Charts as pictures: facts in, a PNG out. The package knows nothing of rates, languages and Telegram."""

from bot.infra.drawing.chart.facts import Bar, BarFacts, ChartFacts, Mark, Row, RowFacts, SheetFacts, Trend
from bot.infra.drawing.chart.render import (
    render_bars,
    render_bars_off_loop,
    render_chart,
    render_chart_off_loop,
    render_rows,
    render_rows_off_loop,
)

__all__ = [
    "Bar",
    "BarFacts",
    "ChartFacts",
    "Mark",
    "Row",
    "RowFacts",
    "SheetFacts",
    "Trend",
    "render_bars",
    "render_bars_off_loop",
    "render_chart",
    "render_chart_off_loop",
    "render_rows",
    "render_rows_off_loop",
]
