"""Waiting for the end of an order, like the Node helper of the document (settlement API, 6.4)."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from bot.core.backoff import Backoff
from bot.settlement.client.errors import SettlementError, WaitAborted, WaitTimeout
from bot.settlement.client.retry import retry_after_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.settlement.client.wire import Order

INTERVAL_SECONDS = 5.0
TIMEOUT_SECONDS = 1800.0
SHORTEST_INTERVAL = 1.0
LONGEST_PAUSE = 60.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


class ReadsOrders(Protocol):
    """The part of the client that waiting uses."""

    async def order(self, order_id: str, *, retry: bool = True) -> Order:
        """Read one order."""
        ...


async def wait_for_order(
    client: ReadsOrders,
    order_id: str,
    *,
    interval: float = INTERVAL_SECONDS,
    timeout: float = TIMEOUT_SECONDS,  # noqa: ASYNC109  the helper's own limit; cancelling works as well
    on_update: Callable[[Order], Awaitable[None] | None] | None = None,
    on_poll: Callable[[Order], Awaitable[None] | None] | None = None,
    abort: asyncio.Event | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Order:
    """Read the order until its state is terminal, and return it. Set `abort` or cancel the task to stop earlier.

    Temporary failures (no connection, no answer, 429, 5xx) only make the pauses longer, up to a minute or the
    `Retry-After`.

    Args:
        client: reads orders.
        order_id: from the service.
        interval: seconds between two reads; less than 1 counts as 1 (settlement API, 6.3).
        timeout: seconds after which only one last read follows.
        on_update: called, and awaited if it is asynchronous, with the first reading and at each change of state.
        on_poll: called in the same way, before `on_update`, with every reading. A failed read has none.
        abort: ends the wait when it is set, also in the middle of a read or a pause. If it was set before, nothing is
            read.
        clock: monotonic seconds.
        sleep: waits between reads.

    Raises:
        WaitTimeout: the order wasn't terminal in time.
        WaitAborted: `abort` was set.
        NotFound, KeyRefused, Answered: waiting longer doesn't help.
    """
    end = clock() + timeout
    pace = max(interval, SHORTEST_INTERVAL)
    state: str | None = None
    failures = 0
    while True:
        reading = await _unless_aborted(abort, _read_order(client, order_id, pace, failures))
        if reading is None:
            raise WaitAborted(state)
        order, pause, requested = reading
        failures = 0 if order else failures + 1
        if order:
            await _notify(on_poll, order)
        if order and order.state != state:
            state = order.state
            await _notify(on_update, order)
        if order and order.terminal:
            return order
        remaining = end - clock()
        if remaining <= 0 or requested > remaining:
            raise WaitTimeout(state)
        await _unless_aborted(abort, sleep(max(min(pause, remaining), SHORTEST_INTERVAL)))


async def _unless_aborted(abort: asyncio.Event | None, step: Awaitable[T]) -> T | None:
    """Return the result of `step`. Cancel it and return None if `abort` is set before it has one."""
    if abort is None:
        return await step
    work, signal = asyncio.ensure_future(step), asyncio.ensure_future(abort.wait())
    try:
        if not abort.is_set():
            await asyncio.wait((work, signal), return_when=asyncio.FIRST_COMPLETED)
        return await work if work.done() else None
    finally:
        for task in (work, signal):
            task.cancel()
        await asyncio.gather(work, signal, return_exceptions=True)


async def _read_order(
    client: ReadsOrders, order_id: str, pace: float, failures: int
) -> tuple[Order | None, float, float]:
    """Return the order if it could be read, the seconds until the next read, and the service's `Retry-After`."""
    try:
        return await client.order(order_id, retry=False), pace, 0.0
    except SettlementError as error:
        if not error.transient:
            raise
        log.info("order_poll_failed", order_id=order_id, failures=failures + 1, error=str(error))
        requested = retry_after_of(error)
    backed_off = Backoff(pace, max(LONGEST_PAUSE, pace)).after(failures + 1)
    return None, max(backed_off, requested), requested


async def _notify(on_update: Callable[[Order], Awaitable[None] | None] | None, order: Order) -> None:
    result = on_update(order) if on_update else None
    if inspect.isawaitable(result):
        await result
