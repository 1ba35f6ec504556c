"""The service's states as the five steps that users see."""

from enum import IntEnum


class OrderStep(IntEnum):
    """The step that users see. Steps are ordered, and an order never goes back to an earlier one."""

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
"""Settlement API, section 3. `FAILED` isn't a step: an order can fail in any of them."""

COMPLETED = "COMPLETED"
FAILED = "FAILED"
TERMINAL_STATES = frozenset({COMPLETED, FAILED})


def step_after(known: OrderStep, state: str) -> OrderStep:
    """Return the step of an order at step `known` after the service reported `state`.

    The service can skip or repeat states, report an old one, or one that we don't know. The step never goes back.
    """
    return max(known, STEP_OF_STATE.get(state, known))
