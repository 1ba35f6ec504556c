"""What an order or a draft holds inside it, to JSON values and back: every digit of a rate as it was."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.core.money import Amount
from bot.settlement.model import Deposit, PayoutMethod, Quote, payload_of, quote_in

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
    """Deposit instructions as JSON."""
    return asdict(deposit)


def to_deposit(value: Json) -> Deposit:
    """Deposit instructions from JSON."""
    return Deposit(**value)


def from_quote(quote: Quote) -> Json:
    """Return a quote as JSON: the rates as text, the time in UTC."""
    return payload_of(quote)


def to_quote(value: Json) -> Quote:
    """Return a quote from JSON."""
    return quote_in(value)
