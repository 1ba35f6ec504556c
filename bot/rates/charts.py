"""Draw the charts of the rate for `/rate` and broadcasts, and cache them."""

import asyncio
from collections import OrderedDict
from datetime import tzinfo
from typing import Final, TypeVar

from bot.core.zones import PRESUMED
from bot.infra.drawing.off_loop import render_chart_off_loop
from bot.infra.i18n import Translator
from bot.rates import screens
from bot.rates.model import Chart, ChartPeriod, RateHistory
from bot.rates.service import QuoteService
from bot.settlement.model import Quote

K = TypeVar("K")
V = TypeVar("V")

MAX_CACHED: Final = 64


class Charts:
    """Draw charts, and cache the last ones by quote, period, language and time zone."""

    def __init__(self, quotes: QuoteService, remembered: int = MAX_CACHED) -> None:
        self._quotes = quotes
        self._remembered = remembered
        self._kept: OrderedDict[tuple[Quote, ChartPeriod, str, str], Chart] = OrderedDict()
        self._histories: OrderedDict[tuple[Quote, ChartPeriod], RateHistory] = OrderedDict()
        self._drawing = asyncio.Lock()

    async def of(self, t: Translator, period: ChartPeriod, quote: Quote, zone: tzinfo = PRESUMED) -> Chart:
        """Return the chart of `period` up to `quote`, in the reader's language and time zone."""
        key = (quote, period, t.locale, str(zone))
        # A request for the same chart waits here until it is drawn.
        async with self._drawing:
            if key not in self._kept:
                _keep(self._kept, key, await self._draw(t, period, quote, zone), self._remembered)
            self._kept.move_to_end(key)
            return self._kept[key]

    async def _draw(self, t: Translator, period: ChartPeriod, quote: Quote, zone: tzinfo) -> Chart:
        history = self._histories.get((quote, period))
        if history is None:
            history = await self._quotes.history(period, quote)
            _keep(self._histories, (quote, period), history, len(ChartPeriod))
        return Chart(await render_chart_off_loop(screens.make_chart_facts(t, history, quote, zone)), history)


def _keep(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
