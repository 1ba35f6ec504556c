"""The settlement service as the bot uses it: its values, its calls, and how they can fail.

The adapter translates the client's errors into these::

    SettlementFailure
    ├── NotCreated         a POST that certainly created no order, such as one that was too late to be sent
    │   ├── Refused        400, with the service's reason for staff
    │   └── OutOfReach     never reached, or rate limited
    ├── OutcomeUnknown     a POST that may have created an order: no answer, any 5xx, an unreadable answer
    ├── KeyRefused         401: the service will reject every call
    ├── OrderNotFound      404
    ├── SlowDown           429, with `retry_after` seconds
    └── ServiceDown        a read without a usable answer
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import blake2s
from typing import Protocol

from bot.core.money import Amount
from bot.settlement.steps import COMPLETED, STEP_OF_STATE, OrderStep


class SettlementFailure(Exception):
    """A failed call to the settlement service."""


class NotCreated(SettlementFailure):
    """A POST that certainly created no order."""


class Refused(NotCreated):
    """The service refused the order. `reason` is the service's text, for staff. It must never be logged."""

    def __init__(self, reason: str = "") -> None:
        super().__init__("the service refused the order")
        self.reason = reason


class OutOfReach(NotCreated):
    """The POST never reached the service, or the service rejected it before it read it."""


class OutcomeUnknown(SettlementFailure):
    """A POST that may have created an order. Only the list of orders shows whether it did."""


class KeyRefused(SettlementFailure):
    """The service rejected our API key (401)."""


class OrderNotFound(SettlementFailure):
    """The service doesn't have this order (404)."""


class SlowDown(SettlementFailure):
    """The service asked us to call less often (429)."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("the service asked for fewer requests")
        self.retry_after = retry_after


class ServiceDown(SettlementFailure):
    """A read without a usable answer: an outage, a time-out, or an unreadable answer."""


BANK = "bank"
EWALLET = "ewallet"


@dataclass(frozen=True, slots=True)
class PayoutMethod:
    """One destination of the live list (settlement API, 2.2).

    Attributes:
        code: opaque. The service validates `code` and `name` as a pair.
        name: as the service spells it.
        kind: `bank`, `ewallet`, or a kind that we don't know yet. It alone decides the format of the number.
        cap: the maximum rupiah of one payout, None for no cap. 0 with `unread`, so that no order fits.
        unread: the field that can't be read, with the service's own text: its cap, or its unknown kind. Else "".
    """

    code: str
    name: str
    kind: str
    cap: int | None = None
    unread: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """Return code and name. Only both together identify a destination (settlement API, 4.5.3)."""
        return self.code, self.name

    def key(self) -> str:
        """Return ten characters that identify this pair of code and name in a button. They never change."""
        return blake2s(f"{self.code}\x00{self.name}".encode(), digest_size=5).hexdigest()


QUOTE_STALE_AFTER = timedelta(minutes=10)
"""The service caches its quote for two minutes. After five times that, its updates have stopped."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The service's cached rate (settlement API, 2.1): rupiah for one bitcoin, and when it was fetched."""

    btc_idr: Decimal
    fetched_at: datetime
    usdc_idr: Decimal | None = None
    source: str = ""

    def is_stale(self, now: datetime) -> bool:
        """Return whether the rate is too old to be shown."""
        return now - self.fetched_at > QUOTE_STALE_AFTER


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
class ServiceRecord:
    """The details of the service's record that prove what became of the money. No decision depends on them.

    Missing and unreadable ones are None. Texts are printable and have 1 to 256 characters, or up to 2,000 for
    `ln_swap_invoice`. They come from the service, so check a hash before you put it into a link.

    Attributes:
        partner_redeem_id: the payout partner's id of the payout.
        partner_amount_idr: rupiah. The document doesn't say which.
        partner_burn_tx_hash: the transaction that burned the tokens for the payout.
        swap_tx_hash: the routing swap.
        ln_swap_tx_hash: the transaction that brought USDT for the Lightning payment.
        ln_swap_id: the service's id of its Lightning swap.
        ln_swap_invoice: the invoice that the service paid for the swap.
        invoice_ln_id: the service's id of the invoice that the payer paid.
        btc_idr_fetched_at: when the service fetched the locked rate.
        merchant_name: a person or a shop, so it is personal.
        tenant_id: whose order it is at the service.
    """

    partner_redeem_id: str | None = None
    partner_amount_idr: int | None = None
    partner_burn_tx_hash: str | None = None
    swap_tx_hash: str | None = None
    ln_swap_tx_hash: str | None = None
    ln_swap_id: str | None = None
    ln_swap_invoice: str | None = None
    invoice_ln_id: str | None = None
    btc_idr_fetched_at: datetime | None = None
    merchant_name: str | None = field(default=None, repr=False)
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReport:
    """The service's record of one order. Missing values are None."""

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
    record: ServiceRecord = ServiceRecord()

    @property
    def since(self) -> datetime | None:
        """Return when the order reached its state, by the service's clock. None if the record has no time."""
        own = self.completed_at if self.state == COMPLETED else self.paid_at if self.is_payment else None
        return own or self.updated_at

    @property
    def is_payment(self) -> bool:
        """Return whether the state is the one for a received payment."""
        return STEP_OF_STATE.get(self.state) is OrderStep.PAID


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """The request to create an order (settlement API, 2.5)."""

    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    amount: Amount
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The service's answer to an order's creation (settlement API, 2.6).

    `state` is empty, unless the answer was lost and these values come from the order's record. `deposit_uri` is the
    service's own URI of a deposit. The record has none.
    """

    service_id: str
    sats: int
    idr: int
    btc_idr: Decimal | None
    bolt11: str | None
    deposit: Deposit | None
    expires_at: datetime | None
    state: str = ""
    deposit_uri: str | None = None


@dataclass(frozen=True, slots=True)
class NewestOrders:
    """The newest orders of our key, newest first, and the service's time when it listed them."""

    reports: tuple[OrderReport, ...]
    served_at: datetime | None


@dataclass(frozen=True, slots=True)
class PlatformStats:
    """The service's statistics (settlement API, 2.4), under its keys and in its order.

    `values` can have any key, with a JSON value of any type and size.
    """

    values: Mapping[str, object]
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    """One way to deposit (2.3), under the service's name for it. Missing values are empty or None."""

    name: str
    summary: str = ""
    token: str = ""
    chain_id: int | None = None
    contract: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepositRails:
    """Deposit rails (2.3). If `is_configured` is false, only Lightning works. `error` is the service's text."""

    is_configured: bool
    rails: tuple[Rail, ...]
    error: str = ""


MaySend = Callable[[], bool]
"""Tells whether the request for an order may still be sent. It is called directly before the first byte."""


class Settlement(Protocol):
    """The settlement service.

    Every method can raise `SettlementFailure`. Only `place` raises `NotCreated` or `OutcomeUnknown`.
    """

    async def quote(self) -> Quote:
        """Return the cached rate (4.1)."""
        ...

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2), in the service's order. It can be empty."""
        ...

    async def deposit_channels(self) -> frozenset[str]:
        """Return the codes of the channels other than Lightning that `deposit/rails` (4.3) offers."""
        ...

    async def deposit_rails(self) -> DepositRails:
        """Return the service's rails (4.3)."""
        ...

    async def platform_stats(self) -> PlatformStats:
        """Return the service's statistics (4.4)."""
        ...

    async def place(self, request: OrderRequest, may_send: MaySend) -> Placed:
        """Create an order (4.5) with one request, never repeated. Nothing is sent if `may_send` forbids it."""
        ...

    async def look_up(self, service_id: str) -> OrderReport:
        """Read one order (4.6)."""
        ...

    async def newest(self, limit: int = 100) -> NewestOrders:
        """Read the newest orders (4.7). An empty list proves nothing."""
        ...
