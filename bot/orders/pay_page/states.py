"""What a payment page says about each status of an order: its words and its steps."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from bot.infra.i18n import Translator
from bot.orders.order import Order, OrderStatus
from bot.settlement.steps import Step

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

STEPS = (Step.CONVERTING, Step.SENDING, Step.SENT)
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
class StepShown:
    """One line of the timeline; `stands` is done, now or next."""

    name: str
    stands: str


@dataclass(frozen=True)
class Telling:
    """The words of a state in one language, as the page and its script show them. They name no order."""

    state: OrderStatus
    heading: str
    text: str
    steps: tuple[StepShown, ...]
    again: int | None

    @cached_property
    def body(self) -> bytes:
        """As JSON, for the page's script."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @cached_property
    def etag(self) -> str:
        """What the script asks with, so that an unchanged state needs no words."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


def telling(t: Translator, state: OrderStatus) -> Telling:
    """What is said of a payment in `state`."""
    return Telling(
        state=state,
        heading=t.plain(f"page.{state}"),
        text=t.plain(f"page.{state}_text"),
        steps=_steps(t, state),
        again=POLL_SECONDS.get(state),
    )


def _steps(t: Translator, state: OrderStatus) -> tuple[StepShown, ...]:
    """The timeline, from the payment on. What can't be reached any more isn't listed."""
    if state not in IN_PROGRESS:
        return ()
    names = [t.plain("step.payment" if state is OrderStatus.WAITING else "step.paid")]
    names += [t.plain(f"step.{step.name.lower()}") for step in STEPS]
    # Paid and not yet converting: the payment is done, and the next step is what is waited for.
    reached = {
        OrderStatus.WAITING: 0,
        OrderStatus.PAID: 1,
        OrderStatus.CONVERTING: 1,
        OrderStatus.SENDING: 2,
        OrderStatus.SENT: 4,
    }[state]
    return tuple(StepShown(name, _stands(place, reached)) for place, name in enumerate(names))


def _stands(place: int, reached: int) -> str:
    if place == reached:
        return "now"
    return "done" if place < reached else "next"
