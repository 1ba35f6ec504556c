"""Charts as pictures: facts in, a PNG out. The package knows nothing of rates, languages and Telegram."""

from bot.infra.drawing.chart.facts import Bar, BarFacts, ChartFacts, Mark, Row, RowFacts, SheetFacts, Trend
from bot.infra.drawing.chart.off_loop import render_chart_off_loop

__all__ = [
    "Bar",
    "BarFacts",
    "ChartFacts",
    "Mark",
    "Row",
    "RowFacts",
    "SheetFacts",
    "Trend",
    "render_chart_off_loop",
]
