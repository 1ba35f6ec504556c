"""A quote and what follows from it: how much to pay, how much arrives, and when it is too old to show."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.core.money import SETTLEMENT_FEE_IDR, Amount, rupiah_for_sats, sats_for_rupiah

TOO_OLD = timedelta(minutes=10)
"""The service caches its quote for two minutes; five times that means that something is stuck."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The service's cached rate (settlement API, 2.1): rupiah for one bitcoin, and when it was fetched."""

    btc_idr: Decimal
    fetched_at: datetime
    usdc_idr: Decimal | None = None
    source: str = ""

    def is_stale(self, now: datetime) -> bool:
        """Whether nobody should be shown this rate any more."""
        return now - self.fetched_at > TOO_OLD


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a wish comes to at a quote: whole sats to pay and whole rupiah to arrive."""

    sats: int
    idr: int
    fee_idr: int
    quote: Quote


def payload_of(quote: Quote) -> dict[str, object]:
    """A quote as JSON values: the rates digit by digit as text, the time in UTC."""
    return {
        "btc_idr": str(quote.btc_idr),
        "fetched_at": quote.fetched_at.astimezone(UTC).isoformat(),
        "usdc_idr": None if quote.usdc_idr is None else str(quote.usdc_idr),
        "source": quote.source,
    }


def quote_in(payload: Mapping[str, object]) -> Quote:
    """What `payload_of` wrote."""
    usdc = payload["usdc_idr"]
    return Quote(
        btc_idr=Decimal(str(payload["btc_idr"])),
        fetched_at=datetime.fromisoformat(str(payload["fetched_at"])),
        usdc_idr=None if usdc is None else Decimal(str(usdc)),
        source=str(payload["source"]),
    )


def estimate(amount: Amount, quote: Quote) -> Estimate:
    """What `amount` comes to at `quote`, rounded as the service rounds (sats up, rupiah down)."""
    if amount.currency == "SAT":
        idr = rupiah_for_sats(amount.value, quote.btc_idr)
        return Estimate(amount.value, idr, SETTLEMENT_FEE_IDR, quote)
    sats = sats_for_rupiah(amount.value, quote.btc_idr)
    return Estimate(sats, amount.value, SETTLEMENT_FEE_IDR, quote)


def price_drift_percent(*, expected_sats: int, expected_idr: int, sats: int, idr: int) -> Decimal:
    """How much worse for the payer the locked price is than the one reviewed, in percent; negative is better.

    Compared as sats a rupiah, so that it holds whichever of the two amounts the person gave.
    """
    if min(expected_sats, expected_idr, sats, idr) <= 0:
        return Decimal("Infinity")
    locked = Decimal(sats) / Decimal(idr)
    reviewed = Decimal(expected_sats) / Decimal(expected_idr)
    return (locked / reviewed - 1) * 100
