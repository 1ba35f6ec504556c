"""What the use cases need of the settlement service, and what may become of a call to it.

Errors of a port (translated once, at the adapter's border)::

    SettlementFailure
    ├── NotMade            a POST that surely made no order
    │   ├── Refused        the service said why (400); its words are for staff
    │   └── OutOfReach     never reached, rate limited, or the key was refused
    ├── OutcomeUnknown     a POST that may have made an order: no answer, any 5xx, an unreadable answer
    ├── KeyRefused         401: every further call would be refused too
    ├── OrderNotFound      404
    ├── SlowDown           429; `retry_after` seconds
    └── ServiceDown        no use can be made of the answer to a read
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from bot.core.money import Amount
from bot.orders.order import Deposit, OrderReport
from bot.rates.quote import Quote
from bot.recipients.methods import PayoutMethod


class SettlementFailure(Exception):
    """A call to the settlement service that brought nothing."""


class NotMade(SettlementFailure):
    """A POST that surely made no order."""


class Refused(NotMade):
    """The service refused the order; `reason` is its own text: data, for staff, never for a log."""

    def __init__(self, reason: str = "") -> None:
        super().__init__("the service refused the order")
        self.reason = reason


class OutOfReach(NotMade):
    """The POST never reached the service, or was turned away at its door."""


class OutcomeUnknown(SettlementFailure):
    """A POST that may or may not have made an order; only the list can tell."""


class KeyRefused(SettlementFailure):
    """The service refused our API key (401)."""


class OrderNotFound(SettlementFailure):
    """The service knows no such order (404)."""


class SlowDown(SettlementFailure):
    """The service asked us to call less often (429)."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("the service asked for fewer requests")
        self.retry_after = retry_after


class ServiceDown(SettlementFailure):
    """A read that brought nothing usable: outage, time-out, or an answer that can't be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The body of an order's creation (settlement API, 2.5), in our words."""

    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    given: Amount
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The service's answer to an order's creation (settlement API, 2.6).

    `state` is known only where the answer was lost and the order's record stands in for it.
    """

    service_id: str
    sats: int
    idr: int
    btc_idr: Decimal | None
    bolt11: str | None
    deposit: Deposit | None
    expires_at: datetime | None
    state: str = ""


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest orders of our key, newest first, and the service's own clock when it listed them."""

    reports: tuple[OrderReport, ...]
    served_at: datetime | None


@dataclass(frozen=True, slots=True)
class PlatformStats:
    """The service's own figures (settlement API, 2.4), under its own keys and in its order.

    Only `fetched_at` is promised. `given` is whatever JSON holds: any key, any type, any size.
    """

    given: Mapping[str, object]
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    """One way to deposit (2.3), under the service's own name for it; what it leaves out is empty or None."""

    name: str
    summary: str = ""
    token: str = ""
    chain_id: int | None = None
    contract: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepositRails:
    """Deposit rails (2.3). Where `is_configured` is false, only Lightning works. `error` is the service's own text."""

    is_configured: bool
    rails: tuple[Rail, ...]
    error: str = ""


class Settlement(Protocol):
    """The settlement service. Every method raises `SettlementFailure`; only `place` raises `NotMade` or unknown."""

    async def quote(self) -> Quote:
        """The cached rate (4.1)."""
        ...

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """The live list (4.2), in the service's order; possibly empty."""
        ...

    async def deposit_channels(self) -> frozenset[str]:
        """The channels beside Lightning that `deposit/rails` (4.3) has, by their codes."""
        ...

    async def deposit_rails(self) -> DepositRails:
        """All that `deposit/rails` (4.3) tells."""
        ...

    async def platform_stats(self) -> PlatformStats:
        """The service's own figures (4.4)."""
        ...

    async def place(self, wish: Wish) -> Placed:
        """Create an order (4.5): exactly one request, never repeated."""
        ...

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6)."""
        ...

    async def newest(self, limit: int = 100) -> Newest:
        """The newest orders (4.7). An empty list proves nothing."""
        ...
