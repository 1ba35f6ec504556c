"""The service's order, and its two JSON forms: the answer to a creation, and the record."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.payments.tokens import LIGHTNING, TOKENS
from bot.sandbox.service.orders import states
from bot.sandbox.service.orders.deposits import instructions

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from bot.sandbox.service.control.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order; amounts are whole sats and whole rupiah, times are aware UTC by the service's clock.

    Attributes:
        listed: whether the list shows it; orders created while the database was down never are.
        due_at: when its next automatic step is, by true time; None while it waits for a payment or a request.
        fail_at: the state in which it will fail.
        reached: all its states so far, oldest first.
        deposit_seen: an EVM deposit arrived, whether or not the state shows it yet.
    """

    id: str
    tenant: str
    listed: bool
    state: str
    channel: str
    sat_amount: int
    idr_amount: int
    btc_idr: Decimal
    quoted_at: datetime
    bolt11: str | None
    payment_hash: str | None
    expires_at: datetime | None
    bank_code: str
    bank_name: str
    kind: str
    recipient: str
    account_name: str
    created_at: datetime
    updated_at: datetime
    paid_at: datetime | None = None
    completed_at: datetime | None = None
    due_at: datetime | None = None
    fail_at: str | None = None
    reached: tuple[str, ...] = ()
    deposit_seen: bool = False
    wrong_deposit: str | None = None

    @property
    def is_terminal(self) -> bool:
        """Return whether no state can follow."""
        return self.state in states.TERMINAL

    @property
    def is_paid(self) -> bool:
        """Return whether it was paid, in time or not."""
        return self.paid_at is not None or self.deposit_seen

    def is_expired(self, now: datetime) -> bool:
        """Return whether the time to pay has passed."""
        return self.expires_at is not None and now >= self.expires_at


def created_answer(order: Order, profile: Profile) -> dict[str, object]:
    """Return OfframpCreateResponse (settlement API, 2.6)."""
    answer: dict[str, object] = {
        "orderId": order.id,
        "bolt11": order.bolt11,
        "satAmount": order.sat_amount,
        "idrAmount": order.idr_amount,
        "btcIdr": float(order.btc_idr),
        "fetchedAt": iso(order.quoted_at),
        "invoiceExpiresAt": _shown_expiry(order, profile),
    }
    if order.channel in TOKENS:
        answer["deposit"] = instructions(
            TOKENS[order.channel],
            tenant=order.tenant,
            sats=order.sat_amount,
            plain_qr=profile.plain_deposit_qr,
            wrong=order.wrong_deposit,
        )
    return answer


def record(order: Order, profile: Profile) -> dict[str, object]:
    """Return OfframpOrder (settlement API, 2.7)."""
    named = order.channel != LIGHTNING or profile.names_lightning_channel
    return {
        "id": order.id,
        "tenantId": order.tenant,
        "state": order.state,
        "satAmount": order.sat_amount,
        "idrAmount": order.idr_amount,
        "btcIdr": float(order.btc_idr),
        "btcIdrFetchedAt": iso(order.quoted_at),
        "invoiceBolt11": order.bolt11,
        "invoiceExpiresAt": _shown_expiry(order, profile),
        "invoicePaidAt": _iso_or_none(order.paid_at),
        **_revealed(order),
        "partnerPayoutBankCode": order.bank_code,
        "partnerPayoutBankName": order.bank_name,
        "payoutRecipient": masked(order.recipient) if profile.masks_recipient else order.recipient,
        "bankAccountName": order.account_name,
        "depositChannel": order.channel if named else None,
        **_deposit(order),
        "createdAt": iso(order.created_at),
        "updatedAt": iso(order.updated_at),
        "completedAt": _iso_or_none(order.completed_at),
        "merchantName": None,
    }


def masked(recipient: str) -> str:
    """Hide all but the last four characters. The contract doesn't define a format."""
    return "*" * (len(recipient) - 4) + recipient[-4:]


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC to the millisecond, as the service writes times."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fingerprint(order_id: str, purpose: str) -> str:
    """Return a stable value of 64 hex digits, in place of a real hash or id."""
    return hashlib.sha256(f"{order_id}/{purpose}".encode()).hexdigest()


def _iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _shown_expiry(order: Order, profile: Profile) -> str | None:
    return _iso_or_none(order.expires_at) if profile.shows_expiry else None


def _deposit(order: Order) -> dict[str, object]:
    if order.channel not in TOKENS:
        return {"depositChainId": None, "depositTokenAddress": None, "depositToAddress": None}
    deposit = instructions(
        TOKENS[order.channel],
        tenant=order.tenant,
        sats=order.sat_amount,
        plain_qr=False,
        wrong=order.wrong_deposit,
    )
    return {
        "depositChainId": deposit["chainId"],
        "depositTokenAddress": deposit["tokenAddress"],
        "depositToAddress": deposit["toAddress"],
    }


def _revealed(order: Order) -> dict[str, object]:
    values: dict[str, object] = {}
    for state, names in states.REVEALED_BY.items():
        for name in names:
            values[name] = _value(order, name) if state in order.reached else None
    return values


def _value(order: Order, name: str) -> object:
    # A deposit on an EVM chain has no Lightning swap, so it has no hash of one.
    if name == "lnSwapTxHash" and order.channel != LIGHTNING:
        return None
    values: dict[str, object] = {
        "partnerAmountIdr": order.idr_amount,
        "invoiceLnId": order.payment_hash,
        "lnSwapInvoice": order.bolt11,
    }
    if name in values:
        return values[name]
    mark = fingerprint(order.id, name)
    if name.endswith("TxHash"):
        return f"0x{mark}"
    return f"{name}_{mark[:20]}"
