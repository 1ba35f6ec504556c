"""The parts of the service, shared by its endpoints."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.sandbox.service.control.faults import FaultBook
from bot.sandbox.service.control.request_log import RequestLog
from bot.sandbox.service.keys import KeyRing
from bot.sandbox.service.limits import PollLimiter
from bot.sandbox.service.methods import MethodsList
from bot.sandbox.service.orders.invoices import Node
from bot.sandbox.service.orders.order_book import OrderBook
from bot.sandbox.service.quote import Quote, QuoteBoard
from bot.sandbox.service.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from bot.sandbox.service.control.switches import Switches
    from bot.sandbox.service.methods import Row


class Service:
    """The service as its endpoints use it.

    There are two clocks. `true_now` decides when things happen. `now` is the service's clock, which a setting can put
    ahead or behind.
    """

    def __init__(
        self,
        *,
        state_path: Path | None,
        switches: Switches,
        seed: int,
        clock: Callable[[], datetime],
    ) -> None:
        self.storage = Storage(state_path)
        self.switches = switches
        self.true_now = clock
        self.book = OrderBook(self.storage)
        self.keys = KeyRing(self.storage, clock)
        self.node = Node(self.storage)
        self.methods = MethodsList()
        self.quotes = QuoteBoard(self.storage, seed)
        self.limiter = PollLimiter()
        self.faults = FaultBook()
        self.requests = RequestLog(clock)

    @property
    def skew(self) -> timedelta:
        """Return how far the service's clock is ahead."""
        return timedelta(seconds=self.switches.clock_skew_seconds)

    def now(self) -> datetime:
        """Return the time by the service's clock, aware UTC."""
        return self.true_now() + self.skew

    def quote(self) -> Quote:
        """Return the quote to show and to lock."""
        return self.quotes.current(self.now(), self.switches.quote_ttl_seconds)

    def listing(self) -> list[Row]:
        """Return the payout methods as listed now."""
        return self.methods.listing(self.switches.profile, self.true_now(), self.switches.methods_ttl_seconds)

    def close(self) -> None:
        """Close the state file."""
        self.storage.close()
