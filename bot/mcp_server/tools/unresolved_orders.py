"""Orders that may exist without the caller's knowledge. A repetition is rejected until the caller has listed orders.

The service has no idempotency keys (settlement API, 4.5), and agents retry automatically. So a request is remembered
before it is sent: while it runs, after an unknown outcome, and for a while after it created an order, because the
caller may have hung up before the answer. Only a list of orders that was requested later clears it. Kept in memory:
this server has no database.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from bot.mcp_server.memory import drop_oldest
from bot.payments.tokens import LIGHTNING
from bot.settlement.client import OrderInput, SettlementError
from bot.settlement.model import EWALLET

CREATED_FOR: Final = 600.0
"""For this many seconds after an order was created, the same request counts as its repetition."""


class UnresolvedOrder(Exception):
    """The same order is being created, was created as `order_id`, or has an unknown outcome."""

    def __init__(self, *, is_running: bool = False, order_id: str | None = None) -> None:
        super().__init__("in progress" if is_running else "created" if order_id else "outcome unknown")
        self.is_running = is_running
        self.order_id = order_id


@dataclass(frozen=True, slots=True)
class Request:
    """What makes two calls the same order: recipient, amount and channel, in any spelling.

    The holder's name isn't part of it, because the number alone decides where the money goes.
    """

    code: str
    name: str
    number: str
    sats: int | None
    idr: int | None
    channel: str


@dataclass(slots=True)
class Sending:
    """One running request. The sender sets which order it created."""

    order_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Remembered:
    number: int
    order_id: str | None
    until: float = field(default=float("inf"))


class UnresolvedOrders:
    """The orders that must not be sent again at the moment. `seconds` is a monotonic clock."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._running: set[Request] = set()
        self._remembered: dict[Request, _Remembered] = {}
        self._count = 0

    @contextmanager
    def prevent_repeat(self, request: Request) -> Iterator[Sending]:
        """Let the block send `request` once. Raise `UnresolvedOrder` if the order may already exist."""
        if request in self._running:
            raise UnresolvedOrder(is_running=True)
        known = self._remembered.get(request)
        if known is not None and self._seconds() < known.until:
            raise UnresolvedOrder(order_id=known.order_id)
        self._running.add(request)
        sending, was_created = Sending(), True
        try:
            yield sending
        except SettlementError as error:
            was_created = error.outcome_unknown
            raise
        finally:
            self._running.discard(request)
            self._remembered.pop(request, None)
            if was_created:
                self._remember(request, sending.order_id)

    def start_listing(self) -> int:
        """Begin to read the list of orders. Pass the result to `finish_listing`."""
        return self._count

    def finish_listing(self, started: int, *, is_empty: bool) -> None:
        """Forget requests sent before the list was requested: the caller can now decide.

        An older list can't show later orders. An empty one proves nothing, because the service answers so while its
        database is down (settlement API, 4.7).
        """
        if not is_empty:
            self._remembered = {key: each for key, each in self._remembered.items() if each.number > started}

    def _remember(self, request: Request, order_id: str | None) -> None:
        drop_oldest(self._remembered)
        self._count += 1
        until = float("inf") if order_id is None else self._seconds() + CREATED_FOR
        self._remembered[request] = _Remembered(self._count, order_id, until)


def request_of(order: OrderInput, kind: str) -> Request:
    """Return the request of `order`. `kind` is the payout method's: an e-wallet's number has many spellings."""
    digits = re.sub(r"\D", "", order.recipient_details)
    number = re.sub(r"^(?:00)?62", "", digits).removeprefix("0") if kind == EWALLET else digits
    return Request(
        code=order.partner_bank_code,
        name=order.partner_bank_name,
        number=number,
        sats=order.sat_amount,
        idr=order.idr_amount,
        channel=order.deposit_channel or LIGHTNING,
    )
