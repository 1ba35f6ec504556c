"""Values of the rate's types, for `every_screen.py`."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from bot.core.money import Amount
from bot.home.screens import show_welcome
from bot.rates import screens
from bot.rates.model import (
    Chart,
    ChartPeriod,
    Estimate,
    RateAlert,
    RateUpdates,
    Subscription,
    estimate,
    make_history,
    to_points,
)
from bot.rates.service import MAX_ALERTS
from bot.settlement.model import Quote
from tests.screens import NOW, Outside
from tests.settlement.builders import QUOTE

ALERT: Final = RateAlert(
    id="0123456789abcdef",
    user_id=1001,
    is_above=True,
    threshold=Decimal(1_750_000_000),
    created_at=NOW,
    expires_at=NOW + timedelta(days=30),
)
ASKED: Final = (Amount("IDR", 10**6), Amount("IDR", 10**9))
SUBSCRIBED: Final = Subscription(user_id=1001, subscribed_at=NOW, daily_minute=450, quiet_from=1320, quiet_until=420)
ALL_UPDATES: Final = (
    RateUpdates(),
    RateUpdates(SUBSCRIBED),
    RateUpdates(replace(SUBSCRIBED, daily_minute=None, quiet_from=None, quiet_until=None)),
    RateUpdates(SUBSCRIBED, (ALERT, replace(ALERT, is_above=False, cooldown_seconds=21_600)) * (MAX_ALERTS // 2)),
)
THRESHOLDS: Final = (Decimal(1_750_000_000), Decimal(340_000_000), Decimal(8_500_000_000))


def some_charts(outside: Outside) -> Iterable[Chart]:
    """Yield charts of each length, with no, one old, and one new quote before the current one."""
    quote = replace(QUOTE, usdc_idr=Decimal("16250.5"), source=outside.typed * 20)
    lower = replace(QUOTE, btc_idr=QUOTE.btc_idr - 10**7, fetched_at=NOW - timedelta(minutes=5))
    for period in ChartPeriod:
        for seen in ((), to_points([replace(lower, fetched_at=NOW - period.length)]), to_points([lower])):
            yield Chart(b"PNG", make_history(period, seen, quote))


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    Chart: some_charts,
    Estimate: lambda _: (estimate(Amount("IDR", 500_000), QUOTE), estimate(Amount("SAT", 29_411), QUOTE)),
    RateUpdates: lambda _: ALL_UPDATES,
    (screens.show_prices, "amounts"): lambda _: (ASKED[:1], ASKED),
    (screens.ask_frequency, "threshold"): lambda _: THRESHOLDS,
    (screens.show_price_alert, "threshold"): lambda _: THRESHOLDS,
    (Decimal | None, "change"): lambda _: (None, Decimal("1.25"), Decimal("-0.5"), Decimal(0)),
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    Quote: lambda quote, t: (t.rate(quote.btc_idr),),
    # It names the price of an example, and no rate.
    (show_welcome, "quote"): lambda *_: (),
    # The question is about the user's own price.
    (screens.ask_frequency, "quote"): lambda *_: (),
    # An old rate isn't shown.
    (screens.explain_stale_rate, "quote"): lambda *_: (),
    (screens.ask_frequency, "threshold"): lambda threshold, t: (t.rate(threshold),),
    (screens.show_price_alert, "threshold"): lambda threshold, t: (t.rate(threshold),),
}
