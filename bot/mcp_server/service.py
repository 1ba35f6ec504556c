"""The settlement service, shared by all tools. Simultaneous reads of the same thing are one request.

Destinations, quote, rails and statistics are cached for a few seconds. An order is read at most once a second
(settlement API, 6.3), and callers in that second share the answer. The list of orders is never shared. A request that
began before an order was created must not report that there is none.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Final, TypeVar

from bot.core.clock import Clock, SystemClock, seconds_with_sleep
from bot.mcp_server.answers import Refusal
from bot.mcp_server.unresolved_orders import Listing, UnresolvedOrders, drop_oldest
from bot.orders.deposits import LONGEST_LIST
from bot.orders.limits import AmountLimits
from bot.orders.placement.invoice_check import TOO_GOOD_PERCENT, Unpayable
from bot.settlement.budget import GAP_SECONDS, Budget
from bot.settlement.catalogue import KEEP_METHODS, KEEP_QUOTE, KEEP_RAILS, CachedValue
from bot.settlement.client import SettlementClient
from bot.settlement.errors import OrderNotFound, SettlementFailure
from bot.settlement.model import (
    CreatedOrder,
    DepositRails,
    NewestOrders,
    OrderReport,
    OrderRequest,
    PayoutMethod,
    PlatformStats,
    Quote,
)

T = TypeVar("T")

KEEP_ORDER = timedelta(seconds=GAP_SECONDS)
NOT_AN_ID = (
    "orderId isn't a valid order id. Send the `orderId` of create_offramp_order, or an `id` of list_offramp_orders."
)
SENT_WITHIN_SECONDS: Final = 30.0
"""How long after its call an order is sent at the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRules:
    """The limits of an order.

    An invoice is shown for up to `pay_within` after its creation. `requests_per_second` is the total of all tools. A
    locked price that is worse than the quote by more than `warn_percent` gets a warning. If it is worse or better by
    more than `stop_percent`, the payment isn't shown at all. Users who are asked to confirm an order must answer within
    `answer_within_seconds`.
    """

    min_order_idr: int = 20_000
    network: str = "bc"
    pay_within: timedelta = timedelta(hours=1)
    warn_percent: Decimal = Decimal(1)
    stop_percent: Decimal = Decimal(10)
    requests_per_second: float = 10.0
    answer_within_seconds: float = 300.0

    def amounts_up_to(self, cap: int | None) -> AmountLimits:
        """Return the limits of one order to a destination with this cap, or without one (None)."""
        return AmountLimits(self.min_order_idr, cap)

    def check_price(self, drift: Decimal) -> tuple[str, ...]:
        """Return warnings about a price that is `drift` percent worse than the current quote (below 0: better).

        Raises:
            Unpayable: the price is too far from the quote.
        """
        worse = f"{drift:.1f}% worse than the current quote"
        better = f"{-drift:.1f}% better than the current quote"
        if drift > self.stop_percent:
            raise Unpayable(f"its price is {worse}")
        if drift < -self.stop_percent:
            raise Unpayable(f"its price is {better}, which can be a mistake")
        if drift < -TOO_GOOD_PERCENT:
            return (f"Its price is {better}. It may be a mistake. Ask your user before paying.",)
        return (f"Its price is {worse}. Ask your user before paying.",) if drift > self.warn_percent else ()


class Service:
    """The service as the tools use it. Tests replace `clock`, `seconds` and `sleep`."""

    def __init__(
        self,
        client: SettlementClient,
        rules: AgentRules,
        *,
        clock: Clock | None = None,
        seconds: Callable[[], float] = seconds_with_sleep,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rules = rules
        self.clock: Clock = clock or SystemClock()
        self.seconds, self.sleep = seconds, sleep
        self.unresolved = UnresolvedOrders(seconds)
        self._budget = Budget(rules.requests_per_second, clock=seconds, sleep=sleep)
        self._client = client
        self._methods = CachedValue(self._fetch_methods, KEEP_METHODS, self.clock)
        self._quote = CachedValue(lambda: self._read(client.quote), KEEP_QUOTE, self.clock)
        self._rails = CachedValue(lambda: self._read(client.deposit_rails), KEEP_RAILS, self.clock)
        self._stats = CachedValue(lambda: self._read(client.platform_stats), KEEP_QUOTE, self.clock)
        self._orders: dict[str, CachedValue[OrderReport]] = {}
        self._withheld: dict[str, str] = {}
        self._verified: dict[str, None] = {}
        self._invoices: dict[str, str] = {}
        self._caps: dict[tuple[str | None, str | None], int | None] = {}

    async def methods(self, *, fresh: bool = False) -> tuple[PayoutMethod, ...]:
        """Return the live list (settlement API, 4.2). Like all methods here, raise `SettlementFailure`."""
        return await self._methods.get(fresh=fresh)

    def amounts_for(self, code: str | None, name: str | None) -> AmountLimits:
        """Return the limits of an order to this destination, by the list last read."""
        return self.rules.amounts_up_to(self._caps.get((code, name)))

    async def quote(self) -> Quote:
        """Return the rate (4.1)."""
        return await self._quote.get()

    async def price(self) -> Quote:
        """Return the rate to check a locked price with. If it can't be read, return the last one that isn't too old."""
        try:
            return await self._quote.get()
        except SettlementFailure:
            last = self._quote.last
            if last is None or last.is_stale(self.clock.now()):
                raise
            return last

    async def rails(self) -> DepositRails:
        """Return the deposit rails (4.3)."""
        return await self._rails.get()

    async def stats(self) -> PlatformStats:
        """Return the service's statistics (4.4)."""
        return await self._stats.get()

    async def order(self, order_id: str) -> OrderReport:
        """Return one order (4.6). Raise a `Refusal` for an id that can't be part of a path."""
        shared = self._orders.get(order_id)
        if shared is None:
            drop_oldest(self._orders)
            shared = self._orders[order_id] = CachedValue(partial(self._fetch_order, order_id), KEEP_ORDER, self.clock)
        return await shared.get()

    async def orders(self, limit: int) -> Listing:
        """Return the newest orders (4.7). Once the caller has them, pass them to `unresolved.finish_listing`."""
        asked_at = self.seconds()
        listed = await self._read(partial(self._client.newest, limit, retry=True))
        return Listing(asked_at, self.seconds(), limit, listed)

    async def newest(self) -> NewestOrders:
        """Return the newest orders for an internal check.

        Unlike a caller's read, it doesn't resolve uncertain orders.
        """
        return await self._read(partial(self._client.newest, LONGEST_LIST, retry=True))

    async def create(self, request: OrderRequest) -> CreatedOrder:
        """Create an order (4.5), once. It isn't sent after a time in which its caller may have given up."""
        began = self.seconds()
        await self._budget.take()
        return await self._client.place(request, lambda: self.seconds() - began < SENT_WITHIN_SECONDS)

    def withhold(self, order_id: str, why: str) -> None:
        """Never show the payment of this order."""
        drop_oldest(self._withheld)
        self._withheld[order_id] = why

    def why_withheld(self, order_id: str) -> str | None:
        """Return why the payment of this order is withheld, or None."""
        return self._withheld.get(order_id)

    def mark_verified(self, order_id: str) -> None:
        """Remember that this order's payment is what its caller requested."""
        drop_oldest(self._verified)
        self._verified[order_id] = None

    def claim_invoice(self, payment_hash: str, order_id: str) -> str:
        """Return the order of the invoice with this payment hash: this order, or another that had it first."""
        drop_oldest(self._invoices)
        return self._invoices.setdefault(payment_hash, order_id)

    def is_verified(self, order_id: str) -> bool:
        """Return whether this process created the order and found its payment correct."""
        return order_id in self._verified

    async def _read(self, read: Callable[[], Awaitable[T]]) -> T:
        await self._budget.take()
        return await read()

    async def _fetch_methods(self) -> tuple[PayoutMethod, ...]:
        methods = await self._read(self._client.payout_methods)
        self._caps = {method.pair: method.cap for method in methods}
        return methods

    async def _fetch_order(self, order_id: str) -> OrderReport:
        try:
            return await self._read(partial(self._client.look_up, order_id, retry=True))
        except OrderNotFound as failure:
            if failure.status is None:  # it wasn't sent
                raise Refusal(NOT_AN_ID) from None
            raise
