"""Events of orders, for features that react to them, such as support (`Feature.order_listeners`)."""

from enum import StrEnum


class OrderProblem(StrEnum):
    """Why an order needs the staff: it was paid, or may have been, and the rupiah weren't sent."""

    OVERDUE = "overdue"
    FAILED = "failed"
