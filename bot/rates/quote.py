"""Estimates at a quote, and the difference between the reviewed and the locked price."""

from dataclasses import dataclass
from decimal import Decimal

from bot.core.money import SETTLEMENT_FEE_IDR, Amount, rupiah_for_sats, sats_for_rupiah
from bot.settlement.model import Quote


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an order costs at a quote: whole sats to pay, and whole rupiah that arrive."""

    sats: int
    idr: int
    fee_idr: int
    quote: Quote


def estimate(amount: Amount, quote: Quote) -> Estimate:
    """Return what `amount` costs at `quote`, rounded as the service rounds (sats up, rupiah down)."""
    if amount.currency == "SAT":
        idr = rupiah_for_sats(amount.value, quote.btc_idr)
        return Estimate(amount.value, idr, SETTLEMENT_FEE_IDR, quote)
    sats = sats_for_rupiah(amount.value, quote.btc_idr)
    return Estimate(sats, amount.value, SETTLEMENT_FEE_IDR, quote)


def price_drift_percent(*, expected_sats: int, expected_idr: int, sats: int, idr: int) -> Decimal:
    """Return how much worse for the payer the locked price is than the reviewed one, in percent.

    A negative result means a better price. The prices are compared in sats for one rupiah, so the result doesn't depend
    on which amount the user typed.
    """
    if min(expected_sats, expected_idr, sats, idr) <= 0:
        return Decimal("Infinity")
    locked = Decimal(sats) / Decimal(idr)
    reviewed = Decimal(expected_sats) / Decimal(expected_idr)
    return (locked / reviewed - 1) * 100
