"""The messages of rate updates: the daily quote and the price alert."""

from datetime import datetime, tzinfo
from decimal import Decimal

from bot.core.money import SETTLEMENT_FEE_IDR, sats_for_rupiah
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock, format_time
from bot.infra.telegram.ui.screen import Screen
from bot.rates.screens.alert import format_condition
from bot.rates.screens.subscription import update_rows
from bot.settlement.model import Quote
from bot.users.buttons import send_row

EXAMPLES = (100_000, 1_000_000)


def show_daily_quote(t: Translator, quote: Quote, change: Decimal | None, zone: tzinfo) -> Screen:
    """Return the rate of the day, its change since the day before (in percent), and examples."""
    lines = [_format_rate(t, quote, change)]
    if quote.usdc_idr is not None:
        lines.append(t("rates.subscription.daily_usdc", rate=t.rate(quote.usdc_idr)))
    examples = [
        t("rates.subscription.example", amount=t.rupiah(idr), sats=t.sats(sats_for_rupiah(idr, quote.btc_idr)))
        for idr in EXAMPLES
    ]
    text = t(
        "rates.subscription.daily_text",
        rates=Html("\n".join(lines)),
        examples=Html("\n".join(examples)),
        at=format_clock(t, quote.fetched_at, zone),
        fee=t.rupiah(SETTLEMENT_FEE_IDR),
    )
    return Screen(text, (send_row(t), *update_rows(t)))


def show_price_alert(
    t: Translator, quote: Quote, threshold: Decimal, zone: tzinfo, *, is_above: bool, cooldown_until: datetime | None
) -> Screen:
    """Return the reached price, and whether the alert can be sent again."""
    text = t(
        "rates.subscription.rings",
        condition=format_condition(t, threshold, is_above=is_above),
        rate=t.rate(quote.btc_idr),
        at=format_clock(t, quote.fetched_at, zone),
    )
    after = (
        t("rates.subscription.rang_once")
        if cooldown_until is None
        else t("rates.subscription.rings_again", time=format_time(t, cooldown_until, quote.fetched_at, zone))
    )
    return Screen(f"{text}\n\n{after}", (send_row(t), *update_rows(t)))


def _format_rate(t: Translator, quote: Quote, change: Decimal | None) -> Html:
    rate = t.rate(quote.btc_idr)
    if change is None:
        return t("rates.subscription.daily_rate", rate=rate)
    sign = "▲ " if change > 0 else "▼ " if change < 0 else ""
    return t("rates.subscription.daily_rate_moved", rate=rate, change=f"{sign}{t.percent(abs(change))}")
