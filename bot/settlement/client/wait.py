"""Waiting for the end of an order, like the Node helper of the document (settlement API, 6.4)."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Protocol

import structlog

from bot.core.backoff import Backoff
from bot.settlement.client.errors import SettlementError, WaitTimeout
from bot.settlement.client.retry import retry_after_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.settlement.client.wire import Order

INTERVAL_SECONDS = 5.0
TIMEOUT_SECONDS = 1800.0
SHORTEST_INTERVAL = 1.0
LONGEST_PAUSE = 60.0

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
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Order:
    """Read the order until its state is terminal, and return it. Cancel the task to stop earlier.

    Temporary failures (no connection, no answer, 429, 5xx) only make the pauses longer, up to a minute or the
    `Retry-After`.

    Args:
        client: reads orders.
        order_id: from the service.
        interval: seconds between two reads; less than 1 counts as 1 (settlement API, 6.3).
        timeout: seconds after which only one last read follows.
        on_update: called, and awaited if it is asynchronous, with the first reading and at each change of state.
        clock: monotonic seconds.
        sleep: waits between reads.

    Raises:
        WaitTimeout: the order wasn't terminal in time.
        NotFound, KeyRefused, Answered: waiting longer doesn't help.
    """
    end = clock() + timeout
    pace = max(interval, SHORTEST_INTERVAL)
    state: str | None = None
    failures = 0
    while True:
        order, pause, requested = await _read_order(client, order_id, pace, failures)
        failures = 0 if order else failures + 1
        if order and order.state != state:
            state = order.state
            await _notify(on_update, order)
        if order and order.terminal:
            return order
        remaining = end - clock()
        if remaining <= 0 or requested > remaining:
            raise WaitTimeout(state)
        await sleep(max(min(pause, remaining), SHORTEST_INTERVAL))


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
