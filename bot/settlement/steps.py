"""The service's states, told as the five steps that a person understands."""

from enum import IntEnum


class Step(IntEnum):
    """Where an order is, for a person. Ordered: a step is never taken back."""

    CREATED = 0
    PAID = 1
    CONVERTING = 2
    SENDING = 3
    SENT = 4


STEP_OF_STATE = {
    "IDLE": Step.CREATED,
    "NWC_CONNECTED": Step.CREATED,
    "QR_SCANNED": Step.CREATED,
    "ROUTE_SHOWN": Step.CREATED,
    "LN_INVOICE_PAID": Step.PAID,
    "LN_SWAP_PENDING": Step.CONVERTING,
    "USDT_RECEIVED": Step.CONVERTING,
    "USDC_SWAPPED": Step.CONVERTING,
    "P2PM_ORDER_PLACED": Step.SENDING,
    "P2PM_ORDER_CONFIRMED": Step.SENDING,
    "IDR_SETTLED": Step.SENDING,
    "COMPLETED": Step.SENT,
}
"""Settlement API, section 3. `FAILED` is no step: it ends whichever step the order was in."""

COMPLETED = "COMPLETED"
FAILED = "FAILED"
TERMINAL_STATES = frozenset({COMPLETED, FAILED})


def step_after(known: Step, state: str) -> Step:
    """Return the step an order is in once the service has said `state`.

    States may be skipped, repeated, served stale or be unknown to us: none of that takes a step back.
    """
    return max(known, STEP_OF_STATE.get(state, known))
