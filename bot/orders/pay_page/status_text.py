"""The texts and steps with which a payment page shows the status of an order."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from bot.infra.i18n import Translator
from bot.orders.order import Order, OrderStatus
from bot.settlement.steps import OrderStep

IN_PROGRESS = (
    OrderStatus.WAITING,
    OrderStatus.PAID,
    OrderStatus.CONVERTING,
    OrderStatus.SENDING,
    OrderStatus.SENT,
)
SHOWN: Final = frozenset(
    {
        *IN_PROGRESS,
        OrderStatus.FAILED_PAID,
        OrderStatus.FAILED_UNKNOWN,
        OrderStatus.FAILED_UNPAID,
        OrderStatus.EXPIRED,
        OrderStatus.CLOSED,
    }
)
"""The statuses that a page shows. All others are shown as closed."""

STEPS = (OrderStep.CONVERTING, OrderStep.SENDING, OrderStep.SENT)
POLL_SECONDS = {
    OrderStatus.WAITING: 2,
    OrderStatus.PAID: 3,
    OrderStatus.CONVERTING: 3,
    OrderStatus.SENDING: 3,
    OrderStatus.EXPIRED: 15,
}
"""Seconds between two requests of a page, by status. An expired page still polls for a late payment."""


def shown_status(order: Order, now: datetime) -> OrderStatus:
    """Return the status that the page of `order` shows. Only with `WAITING` may the page show an invoice or deposit."""
    status = order.status(now)
    if status is OrderStatus.FAILED_UNPAID and order.is_expired(now):
        return OrderStatus.EXPIRED
    return status if status in SHOWN else OrderStatus.CLOSED


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A line of the timeline. `progress` is "done", "now" or "next"."""

    name: str
    progress: str


@dataclass(frozen=True)
class StatusText:
    """The texts of a status in one language, for the page and its script. They contain nothing about an order."""

    state: OrderStatus
    heading: str
    text: str
    steps: tuple[TimelineStep, ...]
    again: int | None

    @cached_property
    def body(self) -> bytes:
        """The texts as JSON, for the page's script."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @cached_property
    def etag(self) -> str:
        """The version of the texts. The script sends it, and gets no texts if the status hasn't changed."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


def describe_status(t: Translator, status: OrderStatus) -> StatusText:
    """Return the texts of a status in `SHOWN`."""
    return StatusText(
        state=status,
        heading=t.plain(f"orders.pay_page.{status}"),
        text=t.plain(f"orders.pay_page.{status}_text"),
        steps=_steps(t, status),
        again=POLL_SECONDS.get(status),
    )


def _steps(t: Translator, status: OrderStatus) -> tuple[TimelineStep, ...]:
    """Return the timeline from the payment on, or nothing if the order failed or expired."""
    if status not in IN_PROGRESS:
        return ()
    names = [t.plain("orders.step.payment" if status is OrderStatus.WAITING else "orders.step.paid")]
    names += [t.plain(f"orders.step.{step.name.lower()}") for step in STEPS]
    # Paid and not yet converting: the payment is done, and the next step is in progress.
    reached = {
        OrderStatus.WAITING: 0,
        OrderStatus.PAID: 1,
        OrderStatus.CONVERTING: 1,
        OrderStatus.SENDING: 2,
        OrderStatus.SENT: 4,
    }[status]
    return tuple(TimelineStep(name, _progress(place, reached)) for place, name in enumerate(names))


def _progress(place: int, reached: int) -> str:
    if place == reached:
        return "now"
    return "done" if place < reached else "next"
