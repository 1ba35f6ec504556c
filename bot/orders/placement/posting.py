"""Asking the service for an order, once, beside the chat: the answer comes back as news.

Nothing here repeats anything. Where the answer is lost, the intent's row says so, and
`orders/placement/reconciler.py` looks.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.core.clock import Clock
from bot.core.shutdown import finish_tasks
from bot.infra.db.errors import LASTING, StoreDown
from bot.infra.db.retry import Sleep, retry_forever
from bot.orders.deposits import list_counts
from bot.orders.order import Order
from bot.orders.placement.matching import Seen, read_list
from bot.orders.placement.settling import OrderSettling
from bot.settlement.model import (
    KeyRefused,
    NotMade,
    OutcomeUnknown,
    Placed,
    Refused,
    Settlement,
    SettlementFailure,
    Wish,
)

log = structlog.get_logger(__name__)

LIST_SECONDS = 4.0
"""How long the list may take to be read after the longest request: `Rules.longest_post` covers both."""


class OrderPosting:
    """The requests that are under way in this process, one for each intent. `sleep` can be virtual."""

    def __init__(
        self, settlement: Settlement, settling: OrderSettling, clock: Clock, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._settlement = settlement
        self._settling = settling
        self._clock = clock
        self._sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, order: Order) -> None:
        """Ask for a committed intent: exactly one request (settlement API, 4.5). The chat doesn't wait for it."""
        task = asyncio.create_task(self._carry_out(order))
        self._tasks[order.reference] = task
        task.add_done_callback(lambda done: self._ended(order.reference, done))

    def includes(self, reference: str) -> bool:
        """Whether the service is being asked for this order just now."""
        return reference in self._tasks

    async def settled(self) -> None:
        """Wait for the requests under way."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, within: float) -> None:
        """Give the requests under way `within` seconds to end; the outcome of those left is unknown."""
        await finish_tasks(self._tasks.values, within)

    def _ended(self, reference: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(reference, None)
        if not task.cancelled() and (error := task.exception()):
            # The row still says "intended": the reconciler looks for what came of it.
            log.error("order_result_not_saved", order=reference, error=type(error).__name__)

    async def _carry_out(self, order: Order) -> None:
        wish = Wish(
            method=order.method, number=order.number, holder=order.holder, given=order.given, channel=order.channel
        )
        try:
            placed = await self._settlement.place(wish)
        except OutcomeUnknown:
            await self._keep(order, lambda: self._settling.unknown(order.reference))
        except Refused as refusal:
            reason = refusal.reason
            await self._keep(order, lambda: self._settling.refused(order.reference, reason))
        except (NotMade, KeyRefused) as failure:
            log.warning("order_rejected", order=order.reference, error=type(failure).__name__)
            await self._keep(order, lambda: self._settling.refused(order.reference))
        else:
            await self._take(order, placed)

    async def _take(self, order: Order, placed: Placed) -> None:
        """Settle an answer. A deposit waits for a list that has its order.

        See `orders/placement/settling.is_like_anothers`.

        Without one, another program's deposit of the same sum could be open. Then the sender hears that we check, and
        the reconciler finds the order as soon as the list has it. If that takes too long, the sender is asked. So a
        service without a list shows no deposit, and keeps nobody waiting for ever.
        """
        seen = None if placed.deposit is None else await self._list_with(placed.service_id)
        if placed.deposit is not None and seen is None:
            log.warning("deposit_not_compared", order=order.reference)
            await self._keep(order, lambda: self._settling.unknown(order.reference))
            return
        await self._keep(order, lambda: self._settling.settle(order.reference, placed, seen=seen))

    async def _list_with(self, service_id: str) -> Seen | None:
        try:
            async with asyncio.timeout(LIST_SECONDS):
                seen = await read_list(self._settlement, self._clock)
        except (SettlementFailure, TimeoutError):
            return None
        return seen if list_counts(seen.reports, service_id, is_new=True) else None

    async def _keep(self, order: Order, save: Callable[[], Awaitable[object]]) -> None:
        """Save the answer, however long the database is away.

        The service is never asked again, and an order that it keeps in memory alone is in none of its lists: an
        answer that isn't saved here is lost (live service, Orders).
        """
        await retry_forever(
            "save_answer", save, despite=StoreDown, unless=LASTING, sleep=self._sleep, order=order.reference
        )
