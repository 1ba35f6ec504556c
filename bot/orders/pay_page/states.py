"""What a wallet page says: one of nine states of an order, each with its words and its steps."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from bot.infra.i18n import Translator
from bot.orders.order import Failure, Order, Phase
from bot.settlement.steps import COMPLETED, FAILED, Step


class State(StrEnum):
    """Where a payment stands, for whoever looks at its page."""

    WAITING = "waiting"
    PAID = "paid"
    CONVERTING = "converting"
    SENDING = "sending"
    SENT = "sent"
    FAILED_PAID = "failed_paid"
    FAILED_UNKNOWN = "failed_unknown"
    FAILED_UNPAID = "failed_unpaid"
    EXPIRED = "expired"
    CLOSED = "closed"  # not shown yet, not shown any more, or no longer watched


OF_STEP = {Step.CONVERTING: State.CONVERTING, Step.SENDING: State.SENDING}
UNDER_WAY = (State.WAITING, State.PAID, State.CONVERTING, State.SENDING, State.SENT)
STEPS = (Step.CONVERTING, Step.SENDING, Step.SENT)
LOOK_AGAIN = {State.WAITING: 2, State.PAID: 3, State.CONVERTING: 3, State.SENDING: 3, State.EXPIRED: 15}
"""Seconds after which a page asks again. A late payment still shows on an expired one; the rest has ended."""


def state_of(order: Order, now: datetime) -> State:
    """The state of `order`. Only in `WAITING` may anything to pay with be shown."""
    if order.phase not in {Phase.OPEN, Phase.DONE}:
        return State.CLOSED
    if order.state == COMPLETED or order.is_paid:
        return _of_paid(order)
    if order.failure is Failure.UNKNOWN:
        return State.FAILED_UNKNOWN
    if order.expiry_told or order.is_expired(now):
        return State.EXPIRED
    if order.state == FAILED:
        return State.FAILED_UNPAID
    return State.WAITING if order.awaits_payment(now) else State.CLOSED


def _of_paid(order: Order) -> State:
    if order.state == COMPLETED:
        return State.SENT
    return State.FAILED_PAID if order.state == FAILED else OF_STEP.get(order.step, State.PAID)


@dataclass(frozen=True, slots=True)
class StepShown:
    """One line of the timeline; `stands` is done, now or next."""

    name: str
    stands: str


@dataclass(frozen=True)
class Telling:
    """The words of a state in one language, as the page and its script show them. They name no order."""

    state: State
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


def telling(t: Translator, state: State) -> Telling:
    """What is said of a payment in `state`."""
    return Telling(
        state=state,
        heading=t.plain(f"page.{state}"),
        text=t.plain(f"page.{state}_text"),
        steps=_steps(t, state),
        again=LOOK_AGAIN.get(state),
    )


def _steps(t: Translator, state: State) -> tuple[StepShown, ...]:
    """The timeline, from the payment on. What can't be reached any more isn't listed."""
    if state not in UNDER_WAY:
        return ()
    names = [t.plain("step.payment" if state is State.WAITING else "step.paid")]
    names += [t.plain(f"step.{step.name.lower()}") for step in STEPS]
    # Paid and not yet converting: the payment is done, and the next step is what is waited for.
    reached = {State.WAITING: 0, State.PAID: 1, State.CONVERTING: 1, State.SENDING: 2, State.SENT: 4}[state]
    return tuple(StepShown(name, _stands(place, reached)) for place, name in enumerate(names))


def _stands(place: int, reached: int) -> str:
    if place == reached:
        return "now"
    return "done" if place < reached else "next"
