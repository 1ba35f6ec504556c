"""The settlement service as all tools share it: what many ask for at once is asked for once.

The list of destinations, the quote, the rails and the figures are kept for a few seconds. One order is asked for once a
second at the most, whoever asks (settlement API, 6.3), and whoever asks meanwhile gets the same answer. The list of
orders is never shared: a request that began before an order was made must not tell somebody that there is none.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial

from bot.core.clock import Clock, SystemClock
from bot.mcp_server.memory import make_room
from bot.mcp_server.tools.unresolved_orders import UnresolvedOrders
from bot.orders.deposits import LONGEST_LIST
from bot.orders.limits import AmountLimits
from bot.orders.order import OrderReport
from bot.rates.quote import TOO_OLD
from bot.settlement.adapter import report_of
from bot.settlement.budget import Budget
from bot.settlement.catalogue import METHODS_FOR, QUOTE_FOR, RAILS_FOR, Shared
from bot.settlement.client import (
    CreatedOrder,
    DepositRails,
    Order,
    OrderInput,
    OrderList,
    PayoutMethod,
    PlatformStats,
    Quote,
    SettlementClient,
    SettlementError,
)
from bot.settlement.client.pace import GAP_SECONDS, OrderPace

ORDER_FOR = timedelta(seconds=GAP_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an order must keep to.

    `requests_per_second` is what all tools together may ask of the service. A locked price worse than the quote by more
    than `warn_percent` is pointed out. Where it is worse or better by more than `stop_percent`, what to pay isn't
    handed out at all.
    """

    min_order_idr: int = 20_000
    network: str = "bc"
    warn_percent: Decimal = Decimal(1)
    stop_percent: Decimal = Decimal(10)
    requests_per_second: float = 10.0

    def amounts_up_to(self, cap: int | None) -> AmountLimits:
        """Return what one order may bring to a destination with this cap; None is a destination without one."""
        return AmountLimits(self.min_order_idr, cap)


class Service:
    """The service behind the tools. `clock`, `seconds` and `sleep` can be virtual."""

    def __init__(
        self,
        client: SettlementClient,
        rules: Rules,
        *,
        clock: Clock | None = None,
        seconds: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rules = rules
        self.clock: Clock = clock or SystemClock()
        self.seconds, self.sleep = seconds, sleep
        self.doubts = UnresolvedOrders(seconds)
        self._budget = Budget(rules.requests_per_second, clock=seconds, sleep=sleep)
        self._client = client
        self._pace = OrderPace(seconds, sleep)
        self._methods = Shared(self._fetch_methods, METHODS_FOR, self.clock)
        self._quote = Shared(self._fetch_quote, QUOTE_FOR, self.clock)
        self._rails = Shared(self._fetch_rails, RAILS_FOR, self.clock)
        self._stats = Shared(self._fetch_stats, QUOTE_FOR, self.clock)
        self._last_quote: Quote | None = None
        self._orders: dict[str, Shared[Order]] = {}
        self._withheld: dict[str, str] = {}
        self._agreed: dict[str, None] = {}
        self._invoices: dict[str, str] = {}
        self._caps: dict[tuple[str | None, str | None], int | None] = {}

    async def methods(self, *, fresh: bool = False) -> tuple[PayoutMethod, ...]:
        """The live list (settlement API, 4.2). Raises `SettlementError`, as all of these do."""
        return await self._methods.get(fresh=fresh)

    def amounts_for(self, code: str | None, name: str | None) -> AmountLimits:
        """Return what an order to this destination may bring, by the list as it was last read."""
        return self.rules.amounts_up_to(self._caps.get((code, name)))

    async def quote(self) -> Quote:
        """The rate (4.1)."""
        return await self._quote.get()

    async def price(self) -> Quote:
        """The rate to check a locked price against: where it can't be read now, the last one that isn't too old."""
        try:
            return await self._quote.get()
        except SettlementError:
            last = self._last_quote
            if last is None or self.clock.now() - last.fetched_at > TOO_OLD:
                raise
            return last

    async def rails(self) -> DepositRails:
        """What can be deposited (4.3)."""
        return await self._rails.get()

    async def stats(self) -> PlatformStats:
        """The service's own figures (4.4)."""
        return await self._stats.get()

    async def order(self, order_id: str) -> Order:
        """One order (4.6). Raises `ValueError` for an id that no path can carry."""
        shared = self._orders.get(order_id)
        if shared is None:
            make_room(self._orders)
            shared = self._orders[order_id] = Shared(partial(self._fetch_order, order_id), ORDER_FOR, self.clock)
        return await shared.get()

    async def orders(self, limit: int) -> OrderList:
        """The newest orders (4.7)."""
        begun = self.doubts.begin_look()
        await self._budget.take()
        listed = await self._client.orders(limit)
        self.doubts.looked(begun, is_empty=not listed.orders)
        return listed

    async def newest(self) -> tuple[OrderReport, ...]:
        """Return the newest orders for a check of our own, which is no look of a caller's: doubts stay."""
        await self._budget.take()
        return tuple(map(report_of, (await self._client.orders(LONGEST_LIST)).orders))

    async def create(self, wish: OrderInput) -> CreatedOrder:
        """Create an order (4.5), once."""
        await self._budget.take()
        return await self._client.create_order(wish)

    def withhold(self, order_id: str, why: str) -> None:
        """Never hand out what this order asks to be paid."""
        make_room(self._withheld)
        self._withheld[order_id] = why

    def why_withheld(self, order_id: str) -> str | None:
        """Why not, for an order of which that was said."""
        return self._withheld.get(order_id)

    def agree(self, order_id: str) -> None:
        """Remember that this order asks to be paid what its caller asked for."""
        make_room(self._agreed)
        self._agreed[order_id] = None

    def claim_invoice(self, payment_hash: str, order_id: str) -> str:
        """Return which order has the invoice with this payment hash: this one, or another that had it before."""
        make_room(self._invoices)
        return self._invoices.setdefault(payment_hash, order_id)

    def is_agreed(self, order_id: str) -> bool:
        """Return whether this process created the order and found it to be what its caller asked for."""
        return order_id in self._agreed

    async def _fetch_methods(self) -> tuple[PayoutMethod, ...]:
        await self._budget.take()
        methods = (await self._client.payout_methods()).methods
        self._caps = {(method.bank_code, method.bank_name): method.max_amount_transfer for method in methods}
        return methods

    async def _fetch_quote(self) -> Quote:
        await self._budget.take()
        self._last_quote = await self._client.quote()
        return self._last_quote

    async def _fetch_rails(self) -> DepositRails:
        await self._budget.take()
        return await self._client.deposit_rails()

    async def _fetch_stats(self) -> PlatformStats:
        await self._budget.take()
        return await self._client.platform_stats()

    async def _fetch_order(self, order_id: str) -> Order:
        await self._pace.take(order_id)
        await self._budget.take()
        return await self._client.order(order_id)
