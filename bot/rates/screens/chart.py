"""The texts, numbers and positions of the rate's chart."""

from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Final

from bot.core.text import plain
from bot.infra.drawing.chart import ChartFacts, Mark, Trend
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import clip
from bot.rates.axes import Scale, make_scale, make_times
from bot.rates.history import RateHistory
from bot.settlement.model import Quote

BRAND: Final = "Kirim"
PAIR: Final = "BTC/IDR"

_MILLION: Final = Decimal(1_000_000)
_SHORT_FROM: Final = 10 * _MILLION
_FINE: Final = _MILLION / 10
_SIGNS: Final = {Trend.UP: "↑ ", Trend.DOWN: "↓ ", Trend.FLAT: ""}


def make_chart_facts(t: Translator, history: RateHistory, quote: Quote, zone: tzinfo) -> ChartFacts:
    """Return all that the picture shows."""
    ground = make_scale(history.lowest, history.highest)
    return ChartFacts(
        brand=BRAND,
        title=PAIR,
        period=t.plain(f"rates.period_{history.period}"),
        main_number=t.rupiah(int(quote.btc_idr.to_integral_value())),
        change=format_change(t, history),
        trend=get_trend(history),
        note=_format_note(t, history, zone),
        runs=_place_runs(history, ground),
        levels=tuple(Mark(ground.share(level), _format_millions(t, level, ground.step)) for level in ground.levels),
        times=_time_marks(t, history, zone),
        columns=_make_columns(t, history, quote),
        footer=_format_footer(t, quote, zone),
    )


def format_change(t: Translator, history: RateHistory) -> str:
    """Return the change of the rate: "↑ 1.25%". It is empty if there is no earlier rate."""
    percent = history.change_percent
    return "" if percent is None else _SIGNS[get_trend(history)] + t.percent(abs(percent))


def get_trend(history: RateHistory) -> Trend:
    """Return the direction of the change after rounding."""
    shown = round(history.change_percent or Decimal(0), 2)
    if not shown:
        return Trend.FLAT
    return Trend.UP if shown > 0 else Trend.DOWN


def _format_note(t: Translator, history: RateHistory, zone: tzinfo) -> str:
    if len(history.points) == 1:
        return t.plain("rates.chart_begins")
    return t.plain("rates.chart_since", at=t.date_time(history.since, zone))


def _place_runs(history: RateHistory, ground: Scale) -> tuple[tuple[tuple[float, float], ...], ...]:
    span = history.until - history.since

    def across(at: datetime) -> float:
        return (at - history.since) / span if span else 1.0

    return tuple(tuple((across(point.at), ground.share(point.rate)) for point in run) for run in history.runs)


def _time_marks(t: Translator, history: RateHistory, zone: tzinfo) -> tuple[Mark, ...]:
    """Return the marks of the time axis: hours, and dates at midnight."""
    span = history.until - history.since
    if not span:
        return ()
    clock = make_times(history.since, history.until, zone)
    return tuple(Mark((at - history.since) / span, _format_time(t, at, zone, clock.are_days)) for at in clock.moments)


def _format_time(t: Translator, at: datetime, zone: tzinfo, is_day: bool) -> str:  # noqa: FBT001  one of two words
    local = at.astimezone(zone)
    is_midnight = (local.hour, local.minute) == (0, 0)
    return t.date(at, zone, with_year=False) if is_day or is_midnight else t.hour(at, zone)


def _make_columns(t: Translator, history: RateHistory, quote: Quote) -> tuple[tuple[str, str], ...]:
    ends = (("rates.lowest", history.lowest), ("rates.highest", history.highest))
    shown = [(t.plain(key), _format_rate(t, rate)) for key, rate in ends if len(history.points) > 1]
    if quote.usdc_idr is not None:
        shown.append(("USDC/IDR", t.rupiah(int(quote.usdc_idr.to_integral_value()))))
    return tuple(shown)


def _format_footer(t: Translator, quote: Quote, zone: tzinfo) -> str:
    at, source = t.date_time(quote.fetched_at, zone), clip(plain(quote.source))
    return t.plain("rates.chart_source", at=at, source=source) if source else at


def _format_rate(t: Translator, rate: Decimal) -> str:
    """Return a rate, short enough for a column."""
    if rate < _SHORT_FROM:
        return t.rupiah(int(rate.to_integral_value()))
    return f"Rp{_format_millions(t, rate, _FINE)}"


def _format_millions(t: Translator, rate: Decimal, precision: Decimal) -> str:
    """Return a rate in millions, with the decimals that `precision` (in rupiah) needs."""
    if rate < _SHORT_FROM:
        return t.number(int(rate.to_integral_value()))
    places = max(0, -(precision / _MILLION).adjusted())
    return t.plain("rates.millions", amount=(rate / _MILLION).quantize(Decimal(1).scaleb(-places)))
