"""The metrics of destinations.

A label is one of the names in our own list of banks and e-wallets, never a text of the service. A destination that the
list doesn't have has no series.
"""

from typing import Final

from bot.infra.metrics import open_gauge
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.model import DestinationHealth
from bot.recipients.banks import find_known

MAX_DESTINATIONS: Final = 40
"""Only the most used ones have series."""

SECONDS: Final = open_gauge(
    "kirim_destination_seconds",
    "From the payment until the payout was sent, over 30 days. Only destinations with enough transfers.",
    "destination",
    "quantile",
)
FAILED_RATIO: Final = open_gauge(
    "kirim_destination_failed_ratio", "The share of paid transfers that failed, over 30 days.", "destination"
)
TROUBLE: Final = open_gauge(
    "kirim_destination_trouble",
    "1 while the newest transfers to a destination are late (`slow`) or fail (`failing`), else 0.",
    "destination",
    "problem",
)


async def refresh_gauges(destinations: DestinationHealthService) -> None:
    """Set the gauges of the most used destinations, and remove those of the others."""
    health = await destinations.get()
    if health is None:
        return
    for gauge in (SECONDS, FAILED_RATIO, TROUBLE):
        gauge.clear()
    for name, each in reversed([(_name(each), each) for each in health.known()[:MAX_DESTINATIONS]]):
        # A name that two live entries share belongs to the one that is used more.
        if name is not None:
            _set(name, each)


def _name(each: DestinationHealth) -> str | None:
    known = find_known(*each.method.pair)
    return known.label if known else None


def _set(name: str, each: DestinationHealth) -> None:
    times, usual = each.usual.times, each.usual
    if times is not None:
        SECONDS.labels(name, "0.5").set(times.usual.median.value.total_seconds())
        if times.usual.ninety is not None:
            SECONDS.labels(name, "0.9").set(times.usual.ninety.value.total_seconds())
    FAILED_RATIO.labels(name).set(usual.failed / usual.finished)
    TROUBLE.labels(name, "slow").set(each.slow is not None)
    TROUBLE.labels(name, "failing").set(each.failing is not None)
