"""Orders that may exist without the caller's knowledge. A repetition is rejected until the caller has listed orders.

The service has no idempotency keys (settlement API, 4.5), and agents retry automatically. So a request is remembered
before it is sent: while it runs, after an unknown outcome, and for a while after it created an order, because the
caller may have hung up before the answer. Only a list of orders that can show the order clears it, and only after the
caller got the list. Kept in memory: this server has no database.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from bot.core.money import Amount
from bot.orders.placement.matching import CREATED_AFTER, CREATED_BEFORE
from bot.settlement.errors import OutcomeUnknown, SettlementFailure
from bot.settlement.model import EWALLET, NewestOrders, OrderRequest

REMEMBERED: Final = 1000
"""The entries of each kind that this server keeps about its calls. It has no database."""

CREATED_FOR: Final = 600.0
"""For this many seconds after an order was created, the same request counts as its repetition."""

APPEARS_WITHIN: Final = CREATED_AFTER.total_seconds()
"""For this many seconds after a request failed, the service can still create its order. No earlier list proves that
there is none."""

CLOCK_SLACK: Final = CREATED_BEFORE.total_seconds()
"""How much older than a request the oldest listed order must be. Times can be rounded."""


class UnresolvedOrder(Exception):
    """The same order is being created, was created as `order_id`, or has an unknown outcome."""

    def __init__(self, *, is_running: bool = False, order_id: str | None = None) -> None:
        super().__init__("in progress" if is_running else "created" if order_id else "outcome unknown")
        self.is_running = is_running
        self.order_id = order_id


class TooManyUnresolved(Exception):
    """So many orders have an unknown outcome that another one couldn't be remembered."""


@dataclass(frozen=True, slots=True)
class Request:
    """What makes two calls the same order: recipient, amount and channel, in any spelling.

    The holder's name isn't part of it, because the number alone decides where the money goes.
    """

    code: str
    name: str
    number: str
    amount: Amount
    channel: str


@dataclass(slots=True)
class Sending:
    """One running request. The sender sets which order it created."""

    order_id: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of orders, when it was requested and answered in monotonic seconds, and with which limit."""

    asked_at: float
    answered_at: float
    limit: int
    listed: NewestOrders

    def has(self, order_id: str) -> bool:
        """Return whether the list has this order."""
        return any(report.service_id == order_id for report in self.listed.reports)

    def reaches_back_to(self, at: float) -> bool:
        """Return whether an order that was created at this second or later must be in the list.

        An empty list proves nothing, because the service answers so while its database is down (settlement API, 4.7).
        A row that can't be read could be the order. Times are compared as ages, each by its own clock.
        """
        orders, served_at = self.listed.reports, self.listed.served_at
        if not orders or self.listed.skipped:
            return False
        if len(orders) < self.limit:
            return True
        oldest = orders[-1].created_at
        if oldest is None or served_at is None:
            return False
        return self.answered_at - (served_at - oldest).total_seconds() < at - CLOCK_SLACK


@dataclass(frozen=True, slots=True)
class _Remembered:
    sent_at: float
    ended_at: float
    order_id: str | None
    until: float = field(default=float("inf"))


class UnresolvedOrders:
    """The orders that must not be sent again at the moment. `seconds` is a monotonic clock."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._running: set[Request] = set()
        self._remembered: dict[Request, _Remembered] = {}

    def check(self, request: Request) -> None:
        """Check that `request` can be sent.

        Raises:
            UnresolvedOrder: the order may already exist.
            TooManyUnresolved: if the outcome were unknown, it couldn't be remembered.
        """
        if request in self._running:
            raise UnresolvedOrder(is_running=True)
        known = self._remembered.get(request)
        if known is not None and self._seconds() < known.until:
            raise UnresolvedOrder(order_id=known.order_id)
        if len(self.unknown()) + len(self._running) >= REMEMBERED:
            raise TooManyUnresolved

    @contextmanager
    def prevent_repeat(self, request: Request) -> Iterator[Sending]:
        """Let the block send `request` once. Raise as `check` does."""
        self.check(request)
        self._running.add(request)
        sending, was_created, sent_at = Sending(), True, self._seconds()
        try:
            yield sending
        except SettlementFailure as error:
            was_created = isinstance(error, OutcomeUnknown)
            raise
        finally:
            self._running.discard(request)
            self._remembered.pop(request, None)
            if was_created:
                self._remember(request, sending.order_id, sent_at)

    def unknown(self) -> list[Request]:
        """Return the requests with an unknown outcome, oldest first."""
        return [request for request, each in self._remembered.items() if each.order_id is None]

    def finish_listing(self, listing: Listing) -> None:
        """Forget the requests that this list settles: its caller can now decide."""
        self._remembered = {
            request: each for request, each in self._remembered.items() if not _is_settled(each, listing)
        }

    def _remember(self, request: Request, order_id: str | None, sent_at: float) -> None:
        if len(self._remembered) >= REMEMBERED:
            # Only an order whose id is known is forgotten early. The caller got its answer, or can list it.
            del self._remembered[next(key for key, each in self._remembered.items() if each.order_id is not None)]
        now = self._seconds()
        until = float("inf") if order_id is None else now + CREATED_FOR
        self._remembered[request] = _Remembered(sent_at, now, order_id, until)


def _is_settled(remembered: _Remembered, listing: Listing) -> bool:
    """Return whether the list shows what became of a request.

    A list that was requested before the request ended proves nothing. A list of later orders only can't show it. Of an
    order whose id is known, only that id is proof: orders of the time when the service's database was down are never
    listed.
    """
    if remembered.order_id is not None:
        return listing.has(remembered.order_id)
    is_late_enough = listing.asked_at >= remembered.ended_at + APPEARS_WITHIN
    return is_late_enough and listing.reaches_back_to(remembered.sent_at)


def request_of(order: OrderRequest) -> Request:
    """Return what makes `order` the same as another. An e-wallet's number has many spellings."""
    digits = re.sub(r"\D", "", order.number)
    number = re.sub(r"^(?:00)?62", "", digits).removeprefix("0") if order.method.kind == EWALLET else digits
    return Request(order.method.code, order.method.name, number, order.amount, order.channel)


def drop_oldest(kept: dict[Any, Any]) -> None:
    """Remove the oldest entry of `kept` if it is full."""
    if len(kept) >= REMEMBERED:
        del kept[next(iter(kept))]
