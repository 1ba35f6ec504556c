"""The states of an order: payment, the steps after it, failure and expiry (settlement API, 3).

Decisions where the documents are silent:

- A payment after expiry is rejected, as by a Lightning node, unless `late` is requested. In the live profile the order
  then continues as if paid in time. In the documented one it is already FAILED, which is terminal. The payment is
  recorded (`invoicePaidAt`), and the order stays FAILED.
- A step that was due while the service was stopped happens after the restart.
- `fail` with a later stage lets the order reach that stage and then fail.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot.payments.tokens import LIGHTNING
from bot.sandbox.service import orders as states
from bot.sandbox.service.settings import ControlRefusal

if TYPE_CHECKING:
    from bot.sandbox.service.orders import Order
    from bot.sandbox.settlement import Service

_STATE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,40}", re.ASCII)


def tick(service: Service) -> None:
    """Make everything happen that is due. Cheap if nothing is."""
    while due := service.book.due(service.true_now()):
        with service.storage.transaction():
            for order in due:
                _keep(service, _step(service, order, order.due_at or service.true_now()))
    if service.switches.profile.unpaid_fails_at_expiry:
        _fail_expired(service)


def pay(service: Service, order: Order, *, late: bool = False) -> tuple[Order, bool]:
    """Pay an order: settle its invoice, or observe its deposit.

    Returns:
        The order, and whether it was paid before.

    Raises:
        ControlRefusal: 409, the order is terminal or its invoice expired, and `late` wasn't requested.
    """
    if order.is_paid:
        return order, True
    over = order.is_terminal or order.is_expired(service.now())
    if over and not late:
        raise ControlRefusal(409, "the invoice has expired" if order.is_expired(service.now()) else "the order is over")
    lightning = order.channel == LIGHTNING
    paid = replace(
        order,
        paid_at=service.now() if lightning else None,
        deposit_seen=not lightning,
        updated_at=service.now(),
    )
    waits = not lightning and service.switches.profile.operator_moves_deposits
    if not order.is_terminal and not waits:
        paid = _moved(service, paid, states.first_paid_state(order.channel), service.true_now())
    return _keep(service, paid), False


def advance(service: Service, order: Order, to: str | None = None) -> Order:
    """Move an order to the next state, or to any named state, known or not, forward or back.

    Raises:
        ControlRefusal: 409, there is no next state, or it needs a payment; 400, `to` isn't a valid name.
    """
    if to is not None:
        return _keep(service, _put(service, order, to))
    if order.is_terminal:
        raise ControlRefusal(409, f"the order is {order.state}; nothing follows")
    if order.is_paid:
        return _keep(service, _step(service, order, service.true_now()))
    if order.state == "ROUTE_SHOWN":
        raise ControlRefusal(409, "the order waits for its payment")
    return _keep(service, _moved(service, order, "ROUTE_SHOWN", service.true_now()))


def fail(service: Service, order: Order, stage: str | None = None) -> Order:
    """Make an order fail, now or at a later stage.

    Raises:
        ControlRefusal: 409, it is terminal; 400, the order has already passed the stage.
    """
    if order.is_terminal:
        raise ControlRefusal(409, f"the order is {order.state} already")
    if stage is None or stage == order.state:
        return _keep(service, _moved(service, order, states.FAILED, service.true_now()))
    if stage not in _state_sequence(service, order)[:-1] or stage in order.reached:
        raise ControlRefusal(400, "stage must be a state that the order still comes to")
    return _keep(service, replace(order, fail_at=stage))


def expire(service: Service, order: Order) -> Order:
    """Expire an order now, before its invoice does.

    Raises:
        ControlRefusal: 409, it is paid, terminal, or never expires.
    """
    if order.is_terminal or order.is_paid:
        raise ControlRefusal(409, f"the order is {order.state}; only an unpaid one can expire")
    if order.expires_at is None and order.channel != LIGHTNING:
        raise ControlRefusal(409, "this order never expires")
    _keep(service, replace(order, expires_at=service.now()))
    tick(service)
    return service.book.find(order.id) or order


def set_speed(service: Service) -> None:
    """Apply a changed speed to orders in progress at once."""
    now, switches = service.true_now(), service.switches
    service.book.reschedule(_next_due(None if switches.stuck else switches.speed_seconds, now))
    for bank_code in switches.speed_by_bank:
        service.book.reschedule(_next_due(switches.speed_of(bank_code), now), bank_code)


def _fail_expired(service: Service) -> None:
    while expired := service.book.expired(service.now()):
        with service.storage.transaction():
            for order in expired:
                _keep(service, _moved(service, order, states.FAILED, service.true_now()))


def _step(service: Service, order: Order, at: datetime) -> Order:
    if order.fail_at is not None and order.fail_at in order.reached:
        return _moved(service, order, states.FAILED, at)
    return _moved(service, order, states.next_state(order.reached, _state_sequence(service, order)), at)


def _put(service: Service, order: Order, to: str) -> Order:
    if not _STATE.fullmatch(to):
        raise ControlRefusal(400, "state must be upper case letters, digits and _")
    passed = states.states_until(to, _state_sequence(service, order))
    before = tuple(state for state in passed if state not in order.reached and state != to)
    paid = bool(passed) and not order.is_paid
    lightning = order.channel == LIGHTNING
    order = replace(
        order,
        reached=order.reached + before,
        paid_at=service.now() if paid and lightning else order.paid_at,
        deposit_seen=order.deposit_seen or (paid and not lightning),
        completed_at=None,
    )
    return _moved(service, order, to, service.true_now())


def _moved(service: Service, order: Order, state: str, at: datetime) -> Order:
    """Return the order in another state since `at` (true time)."""
    rests = state in states.TERMINAL or state in states.UNPAID or not order.is_paid
    return replace(
        order,
        state=state,
        reached=(*order.reached, state),
        updated_at=at + service.skew,
        completed_at=at + service.skew if state == states.COMPLETED else order.completed_at,
        due_at=None if rests else _next_due(service.switches.speed_of(order.bank_code), at),
    )


def _next_due(speed: float | None, at: datetime) -> datetime | None:
    return None if speed is None else at + timedelta(seconds=speed)


def _state_sequence(service: Service, order: Order) -> tuple[str, ...]:
    return states.state_sequence(service.switches.profile, order.channel)


def _keep(service: Service, order: Order) -> Order:
    service.book.save(order)
    return order
