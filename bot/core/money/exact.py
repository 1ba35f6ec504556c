"""Amounts as whole units, and the two conversions, rounded as the service rounds them."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, NewType

Rupiah = NewType("Rupiah", int)
Sats = NewType("Sats", int)
Currency = Literal["IDR", "SAT"]

SETTLEMENT_FEE_IDR: Final = Rupiah(5_000)
"""The fixed fee of a payout in Indonesia, already within the locked quote (settlement API, 1.6 and 8)."""

SATS_PER_BITCOIN: Final = 100_000_000

MAX_RUPIAH: Final = Rupiah(10**12)
MAX_SATS: Final = Sats(1_000 * SATS_PER_BITCOIN)
"""What nobody means to send from a chat, and far above every cap: a slip of the finger, not a wish."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum in whole rupiah (`IDR`) or whole sats (`SAT`), above zero."""

    currency: Currency
    value: int


def sats_for_rupiah(idr: int, btc_idr: Decimal) -> Sats:
    """The least sats that are worth `idr` rupiah at `btc_idr` rupiah a bitcoin: rounded up, as the service does.

    Raises:
        ValueError: the rate is not a positive number.
    """
    exact = Fraction(idr * SATS_PER_BITCOIN) / _rate(btc_idr)
    return Sats(-(-exact.numerator // exact.denominator))


def rupiah_for_sats(sats: int, btc_idr: Decimal) -> Rupiah:
    """The rupiah that `sats` are worth at `btc_idr` rupiah a bitcoin: rounded down, as the service does.

    Raises:
        ValueError: the rate is not a positive number.
    """
    return Rupiah(int(sats * _rate(btc_idr) // SATS_PER_BITCOIN))


def _rate(btc_idr: Decimal) -> Fraction:
    if not btc_idr.is_finite() or btc_idr <= 0:
        raise ValueError("a rate is a positive number")
    return Fraction(btc_idr)
