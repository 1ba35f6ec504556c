"""Events of orders, for features that react to them, such as support."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.infra.db.transaction import Transaction
from bot.orders.order import Order


class OrderProblem(StrEnum):
    """Why an order needs the staff: it was paid, or may have been, and the rupiah weren't sent."""

    OVERDUE = "overdue"
    FAILED = "failed"


class OrderListener(Protocol):
    """Reacts to events of orders, in the transaction that changes the order.

    So the listener's own changes are saved together with the change of the order.
    """

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """React to an order that needs the staff. Operators have been notified already."""

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """React to any other change of an order's status."""


class OrderEvents:
    """Notify the listeners of events, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: list[OrderListener] = []

    def subscribe(self, listener: OrderListener) -> None:
        """Notify `listener` of all later events."""
        self._listeners.append(listener)

    async def report_problem(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Notify the listeners that an order needs the staff."""
        for listener in self._listeners:
            await listener.order_needs_staff(tx, order, problem, now)

    async def report_change(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Notify the listeners that the status of an order has changed."""
        for listener in self._listeners:
            await listener.order_changed(tx, order, now)
