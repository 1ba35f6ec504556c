"""Submit each order to the service once, in a task of its own, and save the answer.

Only the process that saved the intent asks, and only while the intent has no result and its time isn't over
(`rules.py`). That is checked by the row before the request, and by two clocks directly before its first byte is
sent, because a process can stop at any line. A request is never repeated. If its answer is lost,
`orders/placement/lost_orders.py` looks for the order.

A process that ends cancels these tasks. An answer that has arrived by then is saved all the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import structlog
from prometheus_client import Counter, Histogram

from bot.core.clock import Clock, Deadline, seconds_with_sleep
from bot.core.shutdown import finish_tasks, outlive_cancellation
from bot.infra.db.errors import LASTING, StoreDown
from bot.infra.db.fence import without_lease
from bot.infra.logging import bind_fields
from bot.infra.metrics import start_at_zero
from bot.infra.workers import retry_forever
from bot.orders.deposits import is_list_conclusive
from bot.orders.order import Order
from bot.orders.placement.matching import OrderListing, read_list, read_rivals
from bot.orders.placement.results import ResultRecorder
from bot.orders.repository import Rival
from bot.orders.rules import OrderRules, sent_by
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, NotCreated, OutcomeUnknown, Refused, SettlementFailure
from bot.settlement.model import CreatedOrder

log = structlog.get_logger(__name__)

T = TypeVar("T")

ORDER_REQUESTS: Final = Counter(
    "kirim_order_posts",
    "Requests that create an order. Each order has one. After `unknown` the bot looks for the order.",
    ["result"],
)
start_at_zero(ORDER_REQUESTS, ("placed", "refused", "not_created", "unknown"))
ORDER_REQUEST_SECONDS: Final = Histogram(
    "kirim_order_post_seconds",
    "How long the request that creates an order took.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
)

LIST_SECONDS = 4.0
"""How long reading the list may take after the request. `OrderRules.longest_placement` covers both."""

ANSWER_SECONDS: Final = 0.3
"""How long a request goes on after its task was cancelled, so that an answer that has just arrived is read."""

SAVE_SECONDS: Final = 0.6
"""How long a result may take to be saved after its task was cancelled. `finish_tasks` waits for both."""

ENDING_SECONDS: Final = 0.1
"""How often a process that ends tries to save an answer. The database can have just come back."""

Save = Callable[[], Awaitable[object]]
"""Saves the result of a request."""


class OrderSubmission:
    """Send the requests of this process, one for each intent.

    `seconds` is a monotonic clock that goes on while the machine sleeps. Tests replace it.
    """

    def __init__(
        self,
        settlement: SettlementClient,
        results: ResultRecorder,
        clock: Clock,
        rules: OrderRules,
        *,
        seconds: Callable[[], float] = seconds_with_sleep,
    ) -> None:
        self._settlement = settlement
        self._results = results
        self._clock = clock
        self._rules = rules
        self._seconds = seconds
        self._ending = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def submit(self, order: Order) -> None:
        """Start the one request for a saved intent (settlement API, 4.5), without waiting for its answer."""
        with bind_fields(order=order.reference):
            longest = self._rules.longest_placement - self._rules.longest_answer
            deadline = Deadline.create(sent_by(order, self._rules), self._clock, self._seconds, longest)
            task = asyncio.create_task(self._submit(order, deadline), context=without_lease(saves_answer=True))
            self._tasks[order.reference] = task
            task.add_done_callback(lambda done: self._handle_end(order.reference, done))

    def is_submitting(self, reference: str) -> bool:
        """Return whether this process asks for this order, or has an answer that it couldn't save yet."""
        return reference in self._tasks

    def is_busy(self) -> bool:
        """Return whether a request is in progress, or an answer waits to be saved."""
        return bool(self._tasks)

    async def wait(self) -> None:
        """Wait until no request is in progress."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, within: float) -> None:
        """Wait up to `within` seconds for the requests in progress. The result of the others stays unknown."""
        self._ending.set()
        await finish_tasks(self._tasks.values, within)

    def _handle_end(self, reference: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(reference, None)
        if not task.cancelled() and (error := task.exception()):
            # The row still says "intended", so `LostOrders` looks for the order.
            log.error("order_result_not_saved", error=type(error).__name__)

    async def _submit(self, order: Order, deadline: Deadline) -> None:
        """Ask, and save the result. A cancellation shortens both, but loses no answer."""
        asking = asyncio.create_task(self._ask(order, deadline, asyncio.current_task()))
        is_cancelled = await outlive_cancellation(asking, ANSWER_SECONDS)
        if asking.done() and not asking.cancelled():
            save = asking.result()
        else:
            # The request may have arrived. Another process looks for its order now, and not only after its time.
            save = partial(self._results.record_unknown, order.reference)
        saving = asyncio.create_task(self._save(save))
        is_cancelled = await outlive_cancellation(saving, SAVE_SECONDS, is_cancelled=is_cancelled)
        if not is_cancelled:
            saving.result()
            return
        if saving.cancelled() or not saving.done() or saving.exception():
            log.error("order_result_not_saved", error="CancelledError")
        raise asyncio.CancelledError

    async def _ask(self, order: Order, deadline: Deadline, submitting: asyncio.Task[None] | None) -> Save:
        """Ask the service once. Return how to save the result. Nothing is sent once `submitting` is cancelled."""

        def may_send() -> bool:
            return deadline.is_ahead() and not (submitting is not None and submitting.cancelling())

        try:
            await self._check_time(order)
            log.info("order_submitted")
            with ORDER_REQUEST_SECONDS.time():
                created = await self._settlement.place(order.request, may_send)
        except OutcomeUnknown:
            ORDER_REQUESTS.labels("unknown").inc()
            log.warning("order_result_unknown")
            return partial(self._results.record_unknown, order.reference)
        except Refused as refusal:
            ORDER_REQUESTS.labels("refused").inc()
            # Without the reason, which may quote the recipient.
            log.info("order_rejected", error="Refused")
            return partial(self._results.record_refused, order.reference, refusal.reason)
        except NotCreated as failure:
            ORDER_REQUESTS.labels("refused" if isinstance(failure, KeyRefused) else "not_created").inc()
            log.warning("order_rejected", error=type(failure).__name__)
            return partial(self._results.record_refused, order.reference)
        ORDER_REQUESTS.labels("placed").inc()
        log.info("order_created", order_id=created.service_id)
        return await self._compare(order, created)

    async def _check_time(self, order: Order) -> None:
        """Raise `NotCreated` unless the request may begin now.

        This process may have been stopped since it saved the intent, and others may have notified its user meanwhile.
        """
        try:
            may_begin = await self._results.may_request(order.reference)
        except StoreDown:
            raise NotCreated("the intent can't be read") from None
        except asyncio.CancelledError:
            raise NotCreated("this process ends") from None
        if not may_begin:
            raise NotCreated("it is too late to ask for this intent")

    async def _compare(self, order: Order, created: CreatedOrder) -> Save:
        """Return how to save the answer. A deposit is compared with our own orders and with a list that has its order.

        Without such a list, another program's deposit of the same amount could be open (`results.has_rivals`). Then the
        sender is notified that we check, and `LostOrders` finds the order once the list has it. If that takes too
        long, the sender is asked. So if the service has no list, no deposit is shown, and nobody waits for ever.
        """
        listing = None
        if created.deposit is not None:
            rivals = await self._save(partial(self._results.find_rivals, order, created.sats))
            listing = await self._read_list_with(created.service_id, rivals)
        if created.deposit is not None and listing is None:
            log.warning("deposit_not_compared")
            return partial(self._results.record_unknown, order.reference)
        return partial(self._results.record_created, order.reference, created, listing=listing)

    async def _read_list_with(self, service_id: str, rivals: Sequence[Rival]) -> OrderListing | None:
        try:
            async with asyncio.timeout(LIST_SECONDS):
                listing = await read_list(self._settlement, self._clock)
                listing = await read_rivals(self._settlement, listing, rivals)
        except (SettlementFailure, TimeoutError, asyncio.CancelledError):
            return None
        return listing if is_list_conclusive(listing.reports, service_id, is_new=True) else None

    async def _save(self, save: Callable[[], Awaitable[T]]) -> T:
        """Save the answer, or read what has to be known before, even if the database is down for a long time.

        The request is never repeated, and orders that the service keeps only in memory are in none of its lists. So an
        answer that isn't saved here is lost (live service, Orders).
        """
        return await retry_forever("save_answer", save, retry_on=StoreDown, give_up_on=LASTING, sleep=self._pause)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next try to save an answer. A process that ends tries at once, and then often."""
        if self._ending.is_set():
            await asyncio.sleep(min(seconds, ENDING_SECONDS))
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), seconds)
