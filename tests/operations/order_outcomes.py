"""The outcome of an order, in Python. The statistics read it in SQL, and are compared with this."""

from bot.operations.model import OrderOutcome
from bot.orders.order import UNCERTAIN_PHASES, Failure, Order, Phase
from bot.settlement.model import COMPLETED

_OUTCOME_OF_FAILURE = {
    Failure.PAID: OrderOutcome.FAILED,
    Failure.UNPAID: OrderOutcome.UNPAID,
    Failure.UNKNOWN: OrderOutcome.FAILED_UNKNOWN,
}

_OUTCOME_OF_PHASE = {
    Phase.REFUSED: OrderOutcome.REFUSED,
    Phase.ABANDONED: OrderOutcome.CLOSED,
    Phase.NEEDS_CONFIRMATION: OrderOutcome.PRICE_CHANGED,
    Phase.DONE: OrderOutcome.UNPAID,
    **dict.fromkeys(UNCERTAIN_PHASES, OrderOutcome.UNCERTAIN),
}
"""Phase -> outcome of an order that was neither paid nor ended. An open order can be paid until the user is notified
of its expiry."""


def find_outcome(order: Order) -> OrderOutcome:
    """Return the outcome of an order."""
    if order.state == COMPLETED:
        return OrderOutcome.SENT
    if order.failure is not None:
        return _OUTCOME_OF_FAILURE[order.failure]
    if order.is_paid:
        return OrderOutcome.UNDER_WAY
    return _OUTCOME_OF_PHASE.get(order.phase, OrderOutcome.UNPAID if order.expiry_notified else OrderOutcome.WAITING)
