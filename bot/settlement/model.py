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
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import blake2s
from typing import Protocol

from bot.core.money import Amount
from bot.settlement.steps import COMPLETED, STEP_OF_STATE, OrderStep


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


BANK = "bank"
EWALLET = "ewallet"


@dataclass(frozen=True, slots=True)
class PayoutMethod:
    """One destination of the live list (settlement API, 2.2).

    `code` is opaque; `code` and `name` are validated as a pair. `kind` (`bank`, `ewallet`, or a word yet unknown)
    alone decides the format of the number. `cap` is the most rupiah that one payout may carry, None for no cap.
    """

    code: str
    name: str
    kind: str
    cap: int | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """Code and name as the service has them: only both together name a destination (settlement API, 4.5.3)."""
        return self.code, self.name

    def key(self) -> str:
        """Ten characters that stand for this pair of code and name in a button; they never change for the pair."""
        return blake2s(f"{self.code}\x00{self.name}".encode(), digest_size=5).hexdigest()


TOO_OLD = timedelta(minutes=10)
"""The service caches its quote for two minutes; five times that means that something is stuck."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The service's cached rate (settlement API, 2.1): rupiah for one bitcoin, and when it was fetched."""

    btc_idr: Decimal
    fetched_at: datetime
    usdc_idr: Decimal | None = None
    source: str = ""

    def is_stale(self, now: datetime) -> bool:
        """Whether nobody should be shown this rate any more."""
        return now - self.fetched_at > TOO_OLD


@dataclass(frozen=True, slots=True)
class Deposit:
    """Where an EVM payer sends the token (settlement API, 2.6)."""

    channel: str
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str
    to_address: str
    decimals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReport:
    """What the service says of one order, in our words. `None` is "not said"."""

    service_id: str
    state: str
    sats: int | None = None
    idr: int | None = None
    btc_idr: Decimal | None = None
    bolt11: str | None = None
    channel: str | None = None
    bank_code: str | None = None
    bank_name: str | None = None
    recipient: str | None = None
    holder: str | None = field(default=None, repr=False)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    paid_at: datetime | None = None
    completed_at: datetime | None = None
    expires_at: datetime | None = None
    deposit: Deposit | None = None

    @property
    def since(self) -> datetime | None:
        """When the order came into its state, by the service's clock, as nearly as the service says."""
        own = self.completed_at if self.state == COMPLETED else self.paid_at if self.is_payment else None
        return own or self.updated_at

    @property
    def is_payment(self) -> bool:
        """Whether the state itself is that the payment came in."""
        return STEP_OF_STATE.get(self.state) is OrderStep.PAID


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """The body of an order's creation (settlement API, 2.5), in our words."""

    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    amount: Amount
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
        """Return the cached rate (4.1)."""
        ...

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2), in the service's order; possibly empty."""
        ...

    async def deposit_channels(self) -> frozenset[str]:
        """Return the channels beside Lightning that `deposit/rails` (4.3) has, by their codes."""
        ...

    async def deposit_rails(self) -> DepositRails:
        """All that `deposit/rails` (4.3) tells."""
        ...

    async def platform_stats(self) -> PlatformStats:
        """Return the service's own figures (4.4)."""
        ...

    async def place(self, request: OrderRequest) -> Placed:
        """Create an order (4.5): exactly one request, never repeated."""
        ...

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6)."""
        ...

    async def newest(self, limit: int = 100) -> Newest:
        """Return the newest orders (4.7). An empty list proves nothing."""
        ...


def payload_of(quote: Quote) -> dict[str, object]:
    """Return a quote as JSON values: the rates digit by digit as text, the time in UTC."""
    return {
        "btc_idr": str(quote.btc_idr),
        "fetched_at": quote.fetched_at.astimezone(UTC).isoformat(),
        "usdc_idr": None if quote.usdc_idr is None else str(quote.usdc_idr),
        "source": quote.source,
    }


def quote_in(payload: Mapping[str, object]) -> Quote:
    """Return what `payload_of` wrote."""
    usdc = payload["usdc_idr"]
    return Quote(
        btc_idr=Decimal(str(payload["btc_idr"])),
        fetched_at=datetime.fromisoformat(str(payload["fetched_at"])),
        usdc_idr=None if usdc is None else Decimal(str(usdc)),
        source=str(payload["source"]),
    )
