"""Asking the service for an order, once, beside the chat: the answer comes back as news.

Nothing here repeats anything. Where the answer is lost, the intent's row says so, and `actions/reconcile.py` looks.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.actions.ending import end
from bot.actions.patience import Sleep, surely
from bot.actions.ports import LASTING, KeyRefused, NotMade, OutcomeUnknown, Refused, Settlement, StoreDown, Wish
from bot.actions.settling import Settling
from bot.domain.order import Order

log = structlog.get_logger(__name__)


class Posting:
    """The requests that are under way in this process, one for each intent. `sleep` can be virtual."""

    def __init__(self, settlement: Settlement, settling: Settling, sleep: Sleep = asyncio.sleep) -> None:
        self._settlement = settlement
        self._settling = settling
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
        await end(self._tasks.values, within)

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
            await self._keep(order, lambda: self._settling.settle(order.reference, placed))

    async def _keep(self, order: Order, save: Callable[[], Awaitable[object]]) -> None:
        """Save the answer, however long the database is away.

        The service is never asked again, and an order that it keeps in memory alone is in none of its lists: an
        answer that isn't saved here is lost (live service, Orders).
        """
        await surely("save_answer", save, despite=StoreDown, unless=LASTING, sleep=self._sleep, order=order.reference)
