"""Everything that can be wrong with a request for payment, as one tree.

    PaymentRequestError
    ├── InvoiceError                a Lightning invoice
    │   ├── MalformedInvoice        not BOLT11, damaged, or its signature does not hold
    │   ├── UnsupportedInvoice      well-formed, but asks for what no reader of ours knows
    │   ├── UnwritableInvoice       these parts cannot be written as BOLT11
    │   └── InvoiceMismatch         a good invoice, but not the one that the order needs
    │       ├── WrongNetwork
    │       ├── WrongAmount
    │       └── AlreadyExpired
    ├── DepositCheckError           on-chain deposit instructions that must not be shown
    └── UnrenderableQr              more text than a QR code holds

Messages never contain the invoice, its description or its payment secret, so they may be logged as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def _sats(msat: int) -> str:
    return f"{msat // 1000:,}{f'.{msat % 1000:03}' if msat % 1000 else ''} sats"


class PaymentRequestError(Exception):
    """Root of the tree."""


class InvoiceError(PaymentRequestError):
    """A Lightning invoice cannot be used."""


class MalformedInvoice(InvoiceError):
    """The text is no BOLT11 invoice, or it was damaged or tampered with."""


class UnsupportedInvoice(InvoiceError):
    """A well-formed invoice that uses a currency, feature or range which this reader must refuse."""


class UnwritableInvoice(InvoiceError):
    """The given parts do not fit into a BOLT11 invoice."""


class InvoiceMismatch(InvoiceError):
    """A good invoice that is not the one an order needs; `fields` tells staff why, without personal data."""

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
    """The invoice asks for another sum than the order's, or (`actual_msat` None) for any sum."""

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
    """On-chain deposit instructions differ from what is known, in the field named by `field`."""

    # Foreign text is quoted to staff, but not without end.
    _SHOWN = 100

    def __init__(self, field: str, *, expected: str, actual: object) -> None:
        shown = str(actual)[: self._SHOWN]
        super().__init__(f"{field}: expected {expected}, got {shown}")
        self.field = field
        self.fields: dict[str, str] = {"field": field, "expected": expected, "actual": shown}


class UnrenderableQr(PaymentRequestError):
    """The payload is longer than the largest QR code."""
