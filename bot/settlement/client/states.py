"""The words the service uses for states, channels and kinds (settlement API, 2 and 3), and which states are the last.

All of them stay plain strings: the service may add some, and an unknown one is a fact to carry on, not an error.
"""

from __future__ import annotations

from typing import Final

IDLE: Final = "IDLE"
NWC_CONNECTED: Final = "NWC_CONNECTED"
QR_SCANNED: Final = "QR_SCANNED"
ROUTE_SHOWN: Final = "ROUTE_SHOWN"
LN_INVOICE_PAID: Final = "LN_INVOICE_PAID"
LN_SWAP_PENDING: Final = "LN_SWAP_PENDING"
USDT_RECEIVED: Final = "USDT_RECEIVED"
USDC_SWAPPED: Final = "USDC_SWAPPED"
P2PM_ORDER_PLACED: Final = "P2PM_ORDER_PLACED"
P2PM_ORDER_CONFIRMED: Final = "P2PM_ORDER_CONFIRMED"
IDR_SETTLED: Final = "IDR_SETTLED"
COMPLETED: Final = "COMPLETED"
FAILED: Final = "FAILED"

KNOWN_STATES: Final = (
    IDLE,
    NWC_CONNECTED,
    QR_SCANNED,
    ROUTE_SHOWN,
    LN_INVOICE_PAID,
    LN_SWAP_PENDING,
    USDT_RECEIVED,
    USDC_SWAPPED,
    P2PM_ORDER_PLACED,
    P2PM_ORDER_CONFIRMED,
    IDR_SETTLED,
    COMPLETED,
    FAILED,
)
TERMINAL_STATES: Final = frozenset({COMPLETED, FAILED})

LIGHTNING: Final = "lightning"
CBBTC: Final = "cbbtc"
BTCB: Final = "btcb"
KNOWN_CHANNELS: Final = (LIGHTNING, CBBTC, BTCB)

BANK: Final = "bank"
EWALLET: Final = "ewallet"
KNOWN_KINDS: Final = (BANK, EWALLET)


def is_terminal(state: str) -> bool:
    """Whether an order in this state will not change any more (settlement API, 3).

    Case and surrounding blanks do not count, as in everything read from the wire. An unknown state is not terminal.
    """
    return state.strip().upper() in TERMINAL_STATES
