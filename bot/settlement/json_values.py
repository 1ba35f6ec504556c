"""Conversion of the values that orders and drafts contain to JSON and back. Rates keep every digit."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.core.money import Amount
from bot.settlement.model import Deposit, PayoutMethod, Quote, quote_from_json, quote_to_json

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
    return quote_to_json(quote)


def to_quote(value: JsonObject) -> Quote:
    """Return a quote from JSON."""
    return quote_from_json(value)
