"""What a payment page says about each status of an order: its words and its steps."""

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
"""The statuses that a page shows. The rest is closed to a payer: not shown yet, not shown any more, given up."""

STEPS = (OrderStep.CONVERTING, OrderStep.SENDING, OrderStep.SENT)
POLL_SECONDS = {
    OrderStatus.WAITING: 2,
    OrderStatus.PAID: 3,
    OrderStatus.CONVERTING: 3,
    OrderStatus.SENDING: 3,
    OrderStatus.EXPIRED: 15,
}
"""Seconds after which a page asks again. A late payment still shows on an expired one; the rest has ended."""


def shown_status(order: Order, now: datetime) -> OrderStatus:
    """Return the status that the page of `order` shows. Only in `WAITING` may anything to pay with be shown."""
    status = order.status(now)
    if status is OrderStatus.FAILED_UNPAID and order.is_expired(now):
        return OrderStatus.EXPIRED
    return status if status in SHOWN else OrderStatus.CLOSED


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One line of the timeline. `progress` is done, now or next."""

    name: str
    progress: str


@dataclass(frozen=True)
class StatusText:
    """The words of a status in one language, as the page and its script show them. They name no order."""

    state: OrderStatus
    heading: str
    text: str
    steps: tuple[TimelineStep, ...]
    again: int | None

    @cached_property
    def body(self) -> bytes:
        """The same as JSON, for the page's script."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @cached_property
    def etag(self) -> str:
        """The version that the script asks with, so that an unchanged status needs no words."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


def describe_status(t: Translator, status: OrderStatus) -> StatusText:
    """Return the words of a status that a page shows (`SHOWN`)."""
    return StatusText(
        state=status,
        heading=t.plain(f"page.{status}"),
        text=t.plain(f"page.{status}_text"),
        steps=_steps(t, status),
        again=POLL_SECONDS.get(status),
    )


def _steps(t: Translator, status: OrderStatus) -> tuple[TimelineStep, ...]:
    """Return the timeline, from the payment on. Steps that can no longer be reached are left out."""
    if status not in IN_PROGRESS:
        return ()
    names = [t.plain("step.payment" if status is OrderStatus.WAITING else "step.paid")]
    names += [t.plain(f"step.{step.name.lower()}") for step in STEPS]
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
