"""Conversion of the values that orders and drafts contain to JSON and back. Rates keep every digit."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from bot.core.money import Amount
from bot.settlement.model import Deposit, PayoutMethod, Quote

JsonObject = Mapping[str, Any]


def from_method(method: PayoutMethod) -> JsonObject:
    """Return a payout method as JSON."""
    return asdict(method)


def to_method(value: JsonObject) -> PayoutMethod:
    """Return a payout method from JSON."""
    return PayoutMethod(**value)


def from_amount(amount: Amount) -> JsonObject:
    """Return an amount as JSON."""
    return asdict(amount)


def to_amount(value: JsonObject) -> Amount:
    """Return an amount from JSON."""
    return Amount(**value)


def from_deposit(deposit: Deposit) -> JsonObject:
    """Return deposit instructions as JSON."""
    return asdict(deposit)


def to_deposit(value: JsonObject) -> Deposit:
    """Return deposit instructions from JSON."""
    return Deposit(**value)


def from_quote(quote: Quote) -> JsonObject:
    """Return a quote as JSON: the rates as text, the time in UTC."""
    return {
        "btc_idr": str(quote.btc_idr),
        "fetched_at": quote.fetched_at.astimezone(UTC).isoformat(),
        "usdc_idr": None if quote.usdc_idr is None else str(quote.usdc_idr),
        "source": quote.source,
    }


def to_quote(value: JsonObject) -> Quote:
    """Return a quote from JSON."""
    usdc = value["usdc_idr"]
    return Quote(
        btc_idr=Decimal(str(value["btc_idr"])),
        fetched_at=datetime.fromisoformat(str(value["fetched_at"])),
        usdc_idr=None if usdc is None else Decimal(str(usdc)),
        source=str(value["source"]),
    )
