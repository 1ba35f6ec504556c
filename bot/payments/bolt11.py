"""BOLT11 invoices: reading, and checking against an order. Other packages import this module only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.payments.amount import CURRENCIES, MSAT_PER_SAT
from bot.payments.bolt11_read import decode, normalize
from bot.payments.errors import (
    AlreadyExpired,
    InvoiceError,
    InvoiceMismatch,
    MalformedInvoice,
    UnsupportedInvoice,
    WrongAmount,
    WrongNetwork,
)
from bot.payments.invoice import Fallback, Invoice, RouteHop

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "CURRENCIES",
    "AlreadyExpired",
    "Fallback",
    "Invoice",
    "InvoiceError",
    "InvoiceMismatch",
    "MalformedInvoice",
    "RouteHop",
    "UnsupportedInvoice",
    "WrongAmount",
    "WrongNetwork",
    "check",
    "decode",
    "normalize",
]


def check(invoice: Invoice, *, sats: int, network: str, now: datetime) -> None:
    """Check that this is the invoice of an order (settlement API, 4.5: `satAmount` is the exact amount).

    Args:
        invoice: a decoded invoice.
        sats: the order's whole sats; the invoice must ask for exactly these, not a millisatoshi more or less.
        network: the currency prefix it must have, such as "bc".
        now: aware UTC, by our own clock.

    Raises:
        WrongNetwork: it is for another network.
        WrongAmount: it asks for another amount, or lets the payer choose.
        AlreadyExpired: it can no longer be paid.
    """
    if invoice.currency != network:
        raise WrongNetwork(expected=network, actual=invoice.currency)
    if invoice.amount_msat != sats * MSAT_PER_SAT:
        raise WrongAmount(expected_msat=sats * MSAT_PER_SAT, actual_msat=invoice.amount_msat)
    if invoice.expires_at <= now:
        raise AlreadyExpired(expired_at=invoice.expires_at, now=now)
