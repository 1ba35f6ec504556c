"""Amounts in whole units, and their conversions, rounded as the service rounds."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, NewType

Rupiah = NewType("Rupiah", int)
Sats = NewType("Sats", int)
Currency = Literal["IDR", "SAT"]

SETTLEMENT_FEE_IDR: Final = Rupiah(5_000)
"""Fixed payout fee in Indonesia, already part of the locked quote (settlement API, 1.6 and 8)."""

SATS_PER_BITCOIN: Final = 100_000_000

MAX_RUPIAH: Final = Rupiah(10**12)
MAX_SATS: Final = Sats(1_000 * SATS_PER_BITCOIN)
"""More than any cap and any real order: such an amount is a typing mistake."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount in whole rupiah (`IDR`) or whole sats (`SAT`), above zero."""

    currency: Currency
    value: int


def sats_for_rupiah(idr: int, btc_idr: Decimal) -> Sats:
    """Convert rupiah to sats at `btc_idr` rupiah per bitcoin, rounded up as the service does.

    Raises:
        ValueError: the rate isn't positive.
    """
    exact = Fraction(idr * SATS_PER_BITCOIN) / _rate(btc_idr)
    return Sats(-(-exact.numerator // exact.denominator))


def rupiah_for_sats(sats: int, btc_idr: Decimal) -> Rupiah:
    """Convert sats to rupiah at `btc_idr` rupiah per bitcoin, rounded down as the service does.

    Raises:
        ValueError: the rate isn't positive.
    """
    return Rupiah(int(sats * _rate(btc_idr) // SATS_PER_BITCOIN))


def _rate(btc_idr: Decimal) -> Fraction:
    if not btc_idr.is_finite() or btc_idr <= 0:
        raise ValueError("a rate is a positive number")
    return Fraction(btc_idr)
