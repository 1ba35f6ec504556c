"""The service's states, told as the five steps that a person understands."""

from enum import IntEnum


class OrderStep(IntEnum):
    """Where an order is, for a person. Ordered: a step is never taken back."""

    CREATED = 0
    PAID = 1
    CONVERTING = 2
    SENDING = 3
    SENT = 4


STEP_OF_STATE = {
    "IDLE": OrderStep.CREATED,
    "NWC_CONNECTED": OrderStep.CREATED,
    "QR_SCANNED": OrderStep.CREATED,
    "ROUTE_SHOWN": OrderStep.CREATED,
    "LN_INVOICE_PAID": OrderStep.PAID,
    "LN_SWAP_PENDING": OrderStep.CONVERTING,
    "USDT_RECEIVED": OrderStep.CONVERTING,
    "USDC_SWAPPED": OrderStep.CONVERTING,
    "P2PM_ORDER_PLACED": OrderStep.SENDING,
    "P2PM_ORDER_CONFIRMED": OrderStep.SENDING,
    "IDR_SETTLED": OrderStep.SENDING,
    "COMPLETED": OrderStep.SENT,
}
"""Settlement API, section 3. `FAILED` is no step: it ends whichever step the order was in."""

COMPLETED = "COMPLETED"
FAILED = "FAILED"
TERMINAL_STATES = frozenset({COMPLETED, FAILED})


def step_after(known: OrderStep, state: str) -> OrderStep:
    """Return the step an order is in once the service has said `state`.

    States may be skipped, repeated, served stale or be unknown to us: none of that takes a step back.
    """
    return max(known, STEP_OF_STATE.get(state, known))
