"""Errors of payment requests.

    PaymentRequestError
    ├── InvoiceError                a Lightning invoice
    │   ├── MalformedInvoice        not BOLT11, damaged, or with a wrong signature
    │   ├── UnsupportedInvoice      well-formed, but with an unknown currency or feature
    │   └── InvoiceMismatch         a valid invoice, but not the order's
    │       ├── WrongNetwork
    │       ├── WrongAmount
    │       └── AlreadyExpired
    ├── DepositCheckError           on-chain deposit instructions that must not be shown
    └── UnrenderableQr              more text than a QR code holds

Messages never contain the invoice, its description or its payment secret. They are safe to log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def _sats(msat: int) -> str:
    return f"{msat // 1000:,}{f'.{msat % 1000:03}' if msat % 1000 else ''} sats"


class PaymentRequestError(Exception):
    """Base class of all errors of this package."""


class InvoiceError(PaymentRequestError):
    """A Lightning invoice can't be used."""


class MalformedInvoice(InvoiceError):
    """The text isn't a BOLT11 invoice, or it was damaged or tampered with."""


class UnsupportedInvoice(InvoiceError):
    """A well-formed invoice with a currency, feature or range that isn't supported."""


class InvoiceMismatch(InvoiceError):
    """A valid invoice that doesn't match the order. `fields` tells staff why, without personal data."""

    def __init__(self, words: str, **fields: str | int | None) -> None:
        super().__init__(words)
        self.fields: dict[str, str | int | None] = fields


class WrongNetwork(InvoiceMismatch):
    """The invoice is for another Bitcoin network."""

    def __init__(self, *, expected: str, actual: str) -> None:
        super().__init__(
            f"the invoice is for the network {actual}, expected {expected}",
            expected_network=expected,
            actual_network=actual,
        )


class WrongAmount(InvoiceMismatch):
    """The invoice asks for another amount than the order's, or (`actual_msat` None) for any amount."""

    def __init__(self, *, expected_msat: int, actual_msat: int | None) -> None:
        asked = "any amount" if actual_msat is None else _sats(actual_msat)
        super().__init__(
            f"the invoice asks for {asked}, expected {_sats(expected_msat)}",
            expected_msat=expected_msat,
            actual_msat=actual_msat,
        )


class AlreadyExpired(InvoiceMismatch):
    """The invoice can no longer be paid."""

    def __init__(self, *, expired_at: datetime, now: datetime) -> None:
        super().__init__(
            f"the invoice expired at {expired_at:%Y-%m-%d %H:%M:%S} UTC",
            expired_at=expired_at.isoformat(),
            now=now.isoformat(),
        )


class DepositCheckError(PaymentRequestError):
    """On-chain deposit instructions differ from the known token or address, in the field `field`."""

    # Maximum characters of foreign text quoted to staff.
    _SHOWN = 100

    def __init__(self, field: str, *, expected: str, actual: object) -> None:
        shown = str(actual)[: self._SHOWN]
        super().__init__(f"{field}: expected {expected}, got {shown}")
        self.field = field
        self.fields: dict[str, str] = {"field": field, "expected": expected, "actual": shown}


class UnrenderableQr(PaymentRequestError):
    """The payload is longer than the largest QR code."""
