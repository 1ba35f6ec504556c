"""Submit each order to the service once, in a task of its own, and save the answer.

Only the process that saved the intent asks, and only while the intent has no result and its time isn't over
(`request_time.py`). A request is never repeated. If its answer is lost, `orders/placement/reconciler.py` looks for the
order.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.core.clock import Clock
from bot.core.shutdown import finish_tasks
from bot.infra.db.errors import LASTING, StoreDown
from bot.infra.db.fence import without_lease
from bot.infra.db.retry import Sleep, retry_forever
from bot.infra.log_context import bind_fields
from bot.infra.metrics import Measurement
from bot.orders.deposits import is_list_conclusive
from bot.orders.metrics import POST_SECONDS, POSTS
from bot.orders.order import Order
from bot.orders.placement.matching import OrderListing, read_list
from bot.orders.placement.results import ResultRecorder
from bot.settlement.model import (
    KeyRefused,
    NotCreated,
    OutcomeUnknown,
    Placed,
    Refused,
    Settlement,
    SettlementFailure,
)

log = structlog.get_logger(__name__)

LIST_SECONDS = 4.0
"""How long reading the list may take after the request. `Rules.longest_post` covers both."""


class OrderSubmission:
    """Send the requests of this process, one for each intent. Tests pass a virtual `sleep`."""

    def __init__(
        self, settlement: Settlement, results: ResultRecorder, clock: Clock, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._settlement = settlement
        self._results = results
        self._clock = clock
        self._sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def submit(self, order: Order) -> None:
        """Start the one request for a saved intent (settlement API, 4.5), without waiting for its answer."""
        with bind_fields(order=order.reference):
            task = asyncio.create_task(self._submit(order), context=without_lease())
            self._tasks[order.reference] = task
            task.add_done_callback(lambda done: self._handle_end(order.reference, done))

    def is_submitting(self, reference: str) -> bool:
        """Return whether this process asks for this order, or has an answer that it couldn't save yet."""
        return reference in self._tasks

    async def wait(self) -> None:
        """Wait until no request is in progress."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, within: float) -> None:
        """Wait up to `within` seconds for the requests in progress. The result of the others stays unknown."""
        await finish_tasks(self._tasks.values, within)

    def _handle_end(self, reference: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(reference, None)
        if not task.cancelled() and (error := task.exception()):
            # The row still says "intended", so the reconciler looks for the order.
            log.error("order_result_not_saved", error=type(error).__name__)

    async def _submit(self, order: Order) -> None:
        try:
            await self._check_time(order)
            log.info("order_submitted")
            with Measurement(POST_SECONDS):
                placed = await self._settlement.place(order.request)
        except asyncio.CancelledError:
            # This process ends. Another one looks for the order now, and not only after the time of the request.
            await self._results.record_unknown(order.reference)
            raise
        except OutcomeUnknown:
            POSTS.labels("unknown").inc()
            log.warning("order_in_doubt")
            await self._save(lambda: self._results.record_unknown(order.reference))
        except Refused as refusal:
            reason = refusal.reason
            POSTS.labels("refused").inc()
            # Without the reason, which may quote the recipient.
            log.info("order_rejected", error="Refused")
            await self._save(lambda: self._results.record_refused(order.reference, reason))
        except (NotCreated, KeyRefused) as failure:
            POSTS.labels("refused" if isinstance(failure, KeyRefused) else "not_created").inc()
            log.warning("order_rejected", error=type(failure).__name__)
            await self._save(lambda: self._results.record_refused(order.reference))
        else:
            POSTS.labels("placed").inc()
            log.info("order_created", order_id=placed.service_id)
            await self._record_created(order, placed)

    async def _check_time(self, order: Order) -> None:
        """Raise `NotCreated` unless the request may begin now.

        This process may have been stopped since it saved the intent, and others may have notified its user meanwhile.
        """
        try:
            may_begin = await self._results.may_request(order.reference)
        except StoreDown:
            raise NotCreated("the intent can't be read") from None
        if not may_begin:
            raise NotCreated("it is too late to ask for this intent")

    async def _record_created(self, order: Order, placed: Placed) -> None:
        """Save the answer. A deposit is compared with a list of orders that has its order.

        Without such a list, another program's deposit of the same amount could be open (`matches_foreign_deposit`).
        Then the sender is notified that we check, and the reconciler finds the order once the list has it. If that
        takes too long, the sender is asked. So if the service has no list, no deposit is shown, and nobody waits for
        ever.
        """
        listing = None if placed.deposit is None else await self._read_list_with(placed.service_id)
        if placed.deposit is not None and listing is None:
            log.warning("deposit_not_compared")
            await self._save(lambda: self._results.record_unknown(order.reference))
            return
        await self._save(lambda: self._results.record_created(order.reference, placed, listing=listing))

    async def _read_list_with(self, service_id: str) -> OrderListing | None:
        try:
            async with asyncio.timeout(LIST_SECONDS):
                listing = await read_list(self._settlement, self._clock)
        except (SettlementFailure, TimeoutError):
            return None
        return listing if is_list_conclusive(listing.reports, service_id, is_new=True) else None

    async def _save(self, save: Callable[[], Awaitable[object]]) -> None:
        """Save the answer, even if the database is down for a long time.

        The request is never repeated, and orders that the service keeps only in memory are in none of its lists. So an
        answer that isn't saved here is lost (live service, Orders).
        """
        await retry_forever("save_answer", save, retry_on=StoreDown, give_up_on=LASTING, sleep=self._sleep)
