"""The service's names of states and kinds (settlement API, 2 and 3), and which states are terminal.

They stay plain strings: the service can add some, and an unknown one isn't an error.
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

BANK: Final = "bank"
EWALLET: Final = "ewallet"
KNOWN_KINDS: Final = (BANK, EWALLET)


def is_terminal(state: str) -> bool:
    """Return whether an order in this state can't change again (settlement API, 3).

    Case and surrounding spaces are ignored. An unknown state isn't terminal.
    """
    return state.strip().upper() in TERMINAL_STATES
