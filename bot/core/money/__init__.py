"""Exact whole rupiah and sats, and the parser of typed amounts. Never a float."""

from bot.core.money.exact import (
    MAX_RUPIAH,
    MAX_SATS,
    SATS_PER_BITCOIN,
    SETTLEMENT_FEE_IDR,
    Amount,
    Currency,
    Rupiah,
    Sats,
    rupiah_for_sats,
    sats_for_rupiah,
)
from bot.core.money.typed import Ambiguous, AmountRejected, AmountUnreadable, ForeignCurrency, parse_amount

__all__ = [
    "MAX_RUPIAH",
    "MAX_SATS",
    "SATS_PER_BITCOIN",
    "SETTLEMENT_FEE_IDR",
    "Ambiguous",
    "Amount",
    "AmountRejected",
    "AmountUnreadable",
    "Currency",
    "ForeignCurrency",
    "Rupiah",
    "Sats",
    "parse_amount",
    "rupiah_for_sats",
    "sats_for_rupiah",
]
