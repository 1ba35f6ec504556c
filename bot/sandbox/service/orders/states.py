"""The sequence of an order's states, and the fields that each of them fills (settlement API, 2.7 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.payments.tokens import LIGHTNING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.sandbox.service.control.profile import Profile

COMPLETED: Final = "COMPLETED"
FAILED: Final = "FAILED"
TERMINAL: Final = frozenset({COMPLETED, FAILED})
UNPAID: Final = ("IDLE", "NWC_CONNECTED", "QR_SCANNED", "ROUTE_SHOWN")
PAID_BY_LIGHTNING: Final = "LN_INVOICE_PAID"
PAID_BY_DEPOSIT: Final = "USDT_RECEIVED"

REVEALED_BY: Final[dict[str, tuple[str, ...]]] = {
    "LN_INVOICE_PAID": ("invoiceLnId",),
    "LN_SWAP_PENDING": ("lnSwapId", "lnSwapInvoice"),
    "USDT_RECEIVED": ("lnSwapTxHash",),
    "USDC_SWAPPED": ("swapTxHash",),
    "IDR_SETTLED": ("partnerBurnTxHash", "partnerRedeemId", "partnerAmountIdr"),
}
"""The fields that each state fills, besides those with a time of their own (`invoicePaidAt`, `completedAt`)."""


def state_sequence(profile: Profile, channel: str, *, routing_hop: bool) -> tuple[str, ...]:
    """Return every state of an order of this channel after payment, in order, ending in COMPLETED.

    The contract shows no sequence for `cbbtc`. It follows that of `btcb`.
    """
    swap = ("LN_INVOICE_PAID", "LN_SWAP_PENDING") if channel == LIGHTNING else ()
    hop = ("USDC_SWAPPED",) if routing_hop else ()
    undocumented = (profile.undocumented_state,) if profile.undocumented_state else ()
    return (*swap, "USDT_RECEIVED", *hop, *profile.merchant_states, *undocumented, "IDR_SETTLED", COMPLETED)


def first_paid_state(channel: str) -> str:
    """Return the state after payment: the invoice is paid, or the deposit is observed."""
    return PAID_BY_LIGHTNING if channel == LIGHTNING else PAID_BY_DEPOSIT


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
