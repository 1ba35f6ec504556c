"""Conversion of the values that orders and drafts contain to JSON and back. Rates keep every digit."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.core.money import Amount
from bot.settlement.model import Deposit, PayoutMethod, Quote, quote_from_json, quote_to_json

Json = Mapping[str, Any]


def from_method(method: PayoutMethod) -> Json:
    """Return a payout method as JSON."""
    return asdict(method)


def to_method(value: Json) -> PayoutMethod:
    """Return a payout method from JSON."""
    return PayoutMethod(**value)


def from_amount(amount: Amount) -> Json:
    """Return an amount as JSON."""
    return asdict(amount)


def to_amount(value: Json) -> Amount:
    """Return an amount from JSON."""
    return Amount(**value)


def from_deposit(deposit: Deposit) -> Json:
    """Return deposit instructions as JSON."""
    return asdict(deposit)


def to_deposit(value: Json) -> Deposit:
    """Return deposit instructions from JSON."""
    return Deposit(**value)


def from_quote(quote: Quote) -> Json:
    """Return a quote as JSON: the rates as text, the time in UTC."""
    return quote_to_json(quote)


def to_quote(value: Json) -> Quote:
    """Return a quote from JSON."""
    return quote_from_json(value)
