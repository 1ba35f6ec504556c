"""The service's order: its states, its two JSON forms, and the instructions for a deposit (settlement API, 2 and 3)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.payments.erc681 import add_checksum
from bot.payments.tokens import ARBITRUM, LIGHTNING, TOKENS, Token

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from decimal import Decimal

    from bot.sandbox.service.settings import Profile

TENANT: Final = "kirim"
SATS_PER_BITCOIN_DIGITS: Final = 8
NOT_CONFIGURED: Final = "deposit wallet seed is not configured"
COMPLETED: Final = "COMPLETED"
FAILED: Final = "FAILED"
TERMINAL: Final = frozenset({COMPLETED, FAILED})
UNPAID: Final = ("IDLE", "NWC_CONNECTED", "QR_SCANNED", "ROUTE_SHOWN")

REVEALED_BY: Final[dict[str, tuple[str, ...]]] = {
    "LN_INVOICE_PAID": ("invoiceLnId",),
    "LN_SWAP_PENDING": ("lnSwapId", "lnSwapInvoice"),
    "USDT_RECEIVED": ("lnSwapTxHash",),
    "USDC_SWAPPED": ("swapTxHash",),
    "IDR_SETTLED": ("partnerBurnTxHash", "partnerRedeemId", "partnerAmountIdr"),
}
"""The fields that each state fills, besides those with a time of their own (`invoicePaidAt`, `completedAt`)."""


def state_sequence(profile: Profile, channel: str) -> tuple[str, ...]:
    """Return every state of an order of this channel after payment, in order, ending in COMPLETED.

    The contract shows no sequence for `cbbtc`. It follows that of `btcb`.
    """
    swap = ("LN_INVOICE_PAID", "LN_SWAP_PENDING") if channel == LIGHTNING else ()
    return (*swap, "USDT_RECEIVED", "USDC_SWAPPED", *profile.extra_states, "IDR_SETTLED", COMPLETED)


def first_paid_state(channel: str) -> str:
    """Return the state after payment: the invoice is paid, or the deposit is observed."""
    return "LN_INVOICE_PAID" if channel == LIGHTNING else "USDT_RECEIVED"


def next_state(reached: Sequence[str], sequence: Sequence[str]) -> str:
    """Return the state after the last known one. States outside the sequence are ignored.

    Args:
        reached: the states so far, oldest first.
        sequence: the sequence of the order's states.
    """
    last = next((sequence.index(state) for state in reversed(reached) if state in sequence), -1)
    return sequence[min(last + 1, len(sequence) - 1)]


def states_until(state: str, sequence: Sequence[str]) -> tuple[str, ...]:
    """Return the sequence up to and including `state`, or nothing if it isn't in the sequence."""
    return tuple(sequence[: sequence.index(state) + 1]) if state in sequence else ()


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
    tenant: str = TENANT

    @property
    def is_terminal(self) -> bool:
        """Return whether no state can follow."""
        return self.state in TERMINAL

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
    for state, names in REVEALED_BY.items():
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


def safe_address(owner: str = TENANT) -> str:
    """Return the smart account of an owner, always the same."""
    return add_checksum(f"0x{hashlib.sha256(f'safe/{owner}'.encode()).hexdigest()[:40]}")


def instructions(token: Token, *, sats: int, plain_qr: bool, wrong: str | None) -> dict[str, object]:
    """Return DepositInstructions (settlement API, 2.6).

    Args:
        token: the token to pay with.
        sats: the amount.
        plain_qr: the live service's `qrValue`, which names neither token nor amount.
        wrong: "contract", "chain" or "decimals" makes that part wrong, to test clients. "qr" lets `qrValue` name
            another address than the rest.
    """
    target = safe_address()
    contract = f"0x{'00' * 19}42" if wrong == "contract" else token.contract
    chain_id = 1 if wrong == "chain" else token.chain.id
    scanned = safe_address("another") if wrong == "qr" else target
    transfer = f"ethereum:{contract}@{chain_id}/transfer?address={scanned}&uint256={_units(token, sats)}"
    return {
        "channel": token.code,
        "chainId": chain_id,
        "chainName": "Ethereum" if wrong == "chain" else token.chain.name,
        "tokenSymbol": token.symbol,
        "tokenAddress": contract,
        "toAddress": target,
        "decimals": token.decimals - 2 if wrong == "decimals" else token.decimals,
        "qrValue": f"ethereum:{scanned}@{chain_id}" if plain_qr else transfer,
    }


def _units(token: Token, sats: int) -> int:
    """Return the token's smallest units worth `sats`, exactly."""
    return sats * int(10 ** (token.decimals - SATS_PER_BITCOIN_DIGITS))


def rails(*, configured: bool, explains_missing: bool) -> dict[str, object]:
    """Return DepositRails (settlement API, 2.3). Without a wallet seed, only Lightning is available.

    `explains_missing` says that an `error` then takes the place of Lightning's description.
    """
    lightning = {"label": "Lightning", "summary": "Pay a BOLT11 invoice from any Lightning wallet."}
    always: dict[str, object] = {
        "configured": configured,
        "bitcoinOnchain": {"label": "Bitcoin on-chain", "summary": "Not available yet."},
    }
    if not configured:
        return always | ({"error": NOT_CONFIGURED} if explains_missing else {LIGHTNING: lightning})
    always[LIGHTNING] = lightning
    target = safe_address()
    inner = {"chainId": ARBITRUM.id, "safeAddress": target, "token": "USDT", "role": "Receives the Lightning swap"}
    return always | {"arbitrumUsdt": inner} | {token.rail: _rail(token, target) for token in TOKENS.values()}


def _rail(token: Token, target: str) -> dict[str, object]:
    return {
        "chainId": token.chain.id,
        "safeAddress": target,
        "token": token.symbol,
        "contractAddress": token.contract,
        "decimals": token.decimals,
        "depositChannel": token.code,
    }
