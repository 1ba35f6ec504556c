"""The screens of the current rate, with or without its chart."""

from datetime import tzinfo

from bot.core.money import SETTLEMENT_FEE_IDR, sats_for_rupiah
from bot.core.text import plain
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.rates.buttons import RateButton
from bot.rates.history import Chart, ChartPeriod, RateHistory
from bot.rates.screens import chart as rate_chart
from bot.rates.screens import subscription
from bot.settlement.model import Quote
from bot.users.buttons import send_row

EXAMPLES = (100_000, 1_000_000)


def show_rate(t: Translator, quote: Quote, zone: tzinfo, chart: Chart | None = None, *, subscribed: bool) -> Screen:
    """Return the rate, its time, its source, and examples. With a chart, add how the rate changed."""
    paragraphs = ["\n".join(_rate_lines(t, quote, zone)), "\n".join(_example_lines(t, quote))]
    if chart is None:
        return Screen("\n\n".join(paragraphs), (*subscription.subscription_rows(t, subscribed=subscribed), send_row(t)))
    paragraphs += _change_paragraphs(t, chart.history)
    keyboard = (
        _period_row(t, chart.history.period),
        *subscription.subscription_rows(t, subscribed=subscribed),
        send_row(t),
    )
    return Screen("\n\n".join(paragraphs), keyboard, photo=chart.png)


def explain_no_rate(t: Translator, *, subscribed: bool) -> Screen:
    """Return that there is no rate."""
    return Screen(t("rates.none"), (*subscription.subscription_rows(t, subscribed=subscribed), send_row(t)))


def explain_stale_rate(t: Translator, quote: Quote, zone: tzinfo, *, subscribed: bool) -> Screen:
    """Return that the rate is too old to be shown."""
    text = t("rates.stale", at=format_clock(t, quote.fetched_at, zone))
    return Screen(text, (*subscription.subscription_rows(t, subscribed=subscribed), send_row(t)))


def _rate_lines(t: Translator, quote: Quote, zone: tzinfo) -> list[Html]:
    lines = [t("rates.btc", rate=t.rate(quote.btc_idr))]
    if quote.usdc_idr is not None:
        lines.append(t("rates.usdc", rate=t.rate(quote.usdc_idr)))
    at, source = format_clock(t, quote.fetched_at, zone), clip(plain(quote.source))
    return [*lines, t("rates.as_of_source", at=at, source=source) if source else t("rates.as_of", at=at)]


def _example_lines(t: Translator, quote: Quote) -> list[Html]:
    sums = [
        t("rates.example", amount=t.rupiah(idr), sats=t.sats(sats_for_rupiah(idr, quote.btc_idr))) for idr in EXAMPLES
    ]
    return [*sums, t("rates.fee", fee=t.rupiah(SETTLEMENT_FEE_IDR))]


def _change_paragraphs(t: Translator, history: RateHistory) -> list[Html]:
    """Return how the rate changed as text, for users who can't see the picture."""
    if len(history.points) == 1:
        return []
    lowest, highest = (t.rupiah(int(rate.to_integral_value())) for rate in (history.lowest, history.highest))
    # A new bot has no history of the whole period. The picture says when it begins.
    key = "rates.went" if history.is_whole else "rates.went_so_far"
    period = t.plain(f"rates.period_{history.period}")
    return [t(key, period=period, change=rate_chart.format_change(t, history), lowest=lowest, highest=highest)]


def _period_row(t: Translator, shown: ChartPeriod) -> tuple[Button, ...]:
    labels = {period: t.plain(f"rates.button_{period}") for period in ChartPeriod}
    return tuple(
        Button(f"· {label} ·" if period is shown else label, data=RateButton(period).pack())
        for period, label in labels.items()
    )
