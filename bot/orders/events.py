"""What happens to orders, for features that react to it, such as support."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.infra.db.transaction import Transaction
from bot.orders.order import Order


class OrderProblem(StrEnum):
    """Why an order needs the staff: its payment came in, or may have, and the rupiah didn't go out."""

    OVERDUE = "overdue"
    FAILED = "failed"


class OrderListener(Protocol):
    """Reacts to events of orders.

    It is called in the transaction that changes the order, so that what it saves is saved together with the change.
    """

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """React to an order that needs the staff. Operators have been notified already."""

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """React to any other change of an order's status."""


class OrderEvents:
    """Pass events of orders on to the listeners, in the order of their subscription."""

    def __init__(self) -> None:
        self._listeners: list[OrderListener] = []

    def subscribe(self, listener: OrderListener) -> None:
        """Pass all later events on to `listener`."""
        self._listeners.append(listener)

    async def needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Pass on that an order needs the staff."""
        for listener in self._listeners:
            await listener.order_needs_staff(tx, order, problem, now)

    async def changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Pass on that the status of an order has changed."""
        for listener in self._listeners:
            await listener.order_changed(tx, order, now)
