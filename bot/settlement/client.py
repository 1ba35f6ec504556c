"""The settlement service's seven endpoints as a typed, asynchronous client (settlement API, 4).

    async with SettlementClient("https://service.example", api_key) as client:
        quote = await client.quote()

`wait_for_order` waits for the end of an order (6.4). The bot and the agents' tools use both. Reads are repeated when
that makes sense. The one POST never is. After an `OutcomeUnknown`, look for the order in the list before you post
another (4.5, 4.7).
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random as randomness
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar
from urllib.parse import quote as quoted
from urllib.parse import urlsplit

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import seconds_with_sleep
from bot.settlement.budget import OrderPace
from bot.settlement.errors import (
    NotUnderstood,
    OrderNotFound,
    Refused,
    SettlementFailure,
    WaitAborted,
    WaitTimeout,
)
from bot.settlement.http import Request, RetryPolicy, Timeouts, Transport, read_response
from bot.settlement.model import (
    CreatedOrder,
    DepositRails,
    MaySend,
    NewestOrders,
    OrderReport,
    OrderRequest,
    PayoutMethod,
    PlatformStats,
    Quote,
)
from bot.settlement.reading import ServiceResponse, read, read_instant, read_object, read_rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    OnResult = Callable[[str, object, float], None]

T = TypeVar("T")

KeyHeader = Literal["x-api-key", "authorization"]

LARGEST_PAGE = 100
ORDERS = "/v1/offramp/orders"

CLOCKS_AGREE = timedelta(seconds=2)
"""A smaller difference can come from the `Date` header, which has no fractions, and from the network."""

log = structlog.get_logger(__name__)


def key_id_of(api_key: str) -> str:
    """Return the part of a key that is safe to log (settlement API, 5.3), or an empty string if there is none."""
    key_id, dot, _ = api_key.partition(".")
    return key_id if dot else "(no key id)"


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _ignore_result(route: str, result: object, seconds: float) -> None:
    del route, result, seconds


def _checked_base(base_url: str) -> str:
    address = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        has_host = bool((parts.hostname or "").encode("idna"))
        parts.port  # noqa: B018  raises if it can't be one
    except ValueError:
        raise ValueError("the base address is not an address") from None
    if parts.scheme not in {"http", "https"} or not has_host or not address.isprintable() or " " in address:
        raise ValueError("the base address must be an http or https address")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("the base address must have no user, query or fragment")
    return address


def _key_headers(api_key: str, header: KeyHeader) -> dict[str, str]:
    if not api_key or not all("!" <= letter <= "~" for letter in api_key):
        raise ValueError("the API key must be visible ASCII characters only")
    if header == "authorization":
        return {"authorization": f"Bearer {api_key}"}
    return {"x-api-key": api_key}


class SettlementClient:
    """One tenant's access to the service. Any number of tasks can share it. Every call can raise `SettlementFailure`.

    Args:
        base_url: the service's address without `/v1`. A path and a trailing slash are accepted.
        api_key: the tenant's key. Only the part before its dot is ever shown.
        header: which of the two accepted headers carries the key (settlement API, 5.2).
        timeouts: seconds; see `Timeouts`.
        retry: how reads are tried again.
        transport: carries the requests; httpx's connections by default. Closed with the client.
        sleep: waits between attempts.
        chance: gives random numbers from 0 to 1, for jitter.
        clock: monotonic seconds, which go on while the machine sleeps.
        now: our own clock as aware UTC, compared with the service's.
        on_result: called after each attempt with its route, its value or its `SettlementFailure`, and the seconds it
            took. The caller gets the result after that.

    Attributes:
        base_url: without a trailing slash.
        key_id: the part of the key that is safe to show.
        clock_offset: the service's clock minus ours, from the `Date` of its last success; None before the first.

    Raises:
        ValueError: the address or the key is malformed. The text doesn't repeat the key.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        header: KeyHeader = "x-api-key",
        timeouts: Timeouts = Timeouts(),  # noqa: B008  frozen
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008  frozen
        transport: Transport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = randomness.random,
        clock: Callable[[], float] = seconds_with_sleep,
        now: Callable[[], datetime] = _utc_now,
        on_result: OnResult = _ignore_result,
    ) -> None:
        self.base_url = _checked_base(base_url)
        self.key_id = key_id_of(api_key)
        self.clock_offset: timedelta | None = None
        self._timeouts, self._retry = timeouts, retry
        self._sleep, self._chance, self._clock, self._now = sleep, chance, clock, now
        self._on_result = on_result
        self._headers = {"accept": "application/json", "user-agent": "kirim", **_key_headers(api_key, header)}
        self._transport = transport
        self._pace = OrderPace(clock, sleep)

    def __repr__(self) -> str:
        return f"SettlementClient({self.base_url!r}, key_id={self.key_id!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections. Running requests end with NoAnswer."""
        if self._transport is not None:
            await self._transport.aclose()

    def service_now(self) -> datetime:
        """Return the time by the service's clock, to about a second. Before the first answer, return our own."""
        return self._now() + (self.clock_offset or timedelta(0))

    async def quote(self) -> Quote:
        """Read the latest cached rates (settlement API, 4.1), with their time converted to our own clock."""
        quote = await self._get("quote", "/v1/quote/btc-idr", lambda answer: read(Quote, answer))
        offset = self.clock_offset or timedelta(0)
        # The rate's time and the header's time can come from different clocks. A rate is never from the future.
        fetched_at = min(quote.fetched_at, self.service_now())
        return replace(quote, fetched_at=fetched_at - offset if abs(offset) > CLOCKS_AGREE else fetched_at)

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Read the live list of banks and e-wallets, in the service's order. Read it before each order (4.2)."""
        return await self._get(
            "payout_methods", "/v1/payout/methods", lambda answer: read_rows(PayoutMethod, answer, "data")[0]
        )

    async def deposit_rails(self) -> DepositRails:
        """Read the deposit rails (4.3). Absent and unreadable ones are left out."""
        return await self._get("deposit_rails", "/v1/deposit/rails", lambda answer: read(DepositRails, answer))

    async def platform_stats(self) -> PlatformStats:
        """Read the service's statistics (4.4), with every key as received."""
        return await self._get("stats", "/v1/platform/stats", _read_stats)

    async def look_up(self, service_id: str, *, retry: bool = False) -> OrderReport:
        """Read one order (4.6), at least a second after the last read of it (6.3).

        It is sent once, unless `retry` is set, because most callers have a request budget and a schedule of their own.

        Raises:
            OrderNotFound: there is no such order, or it is another tenant's, or the id can't be part of a path.
            NotUnderstood: the answer is another order's, as from a proxy that mixes answers up.
        """
        if service_id in {"", ".", ".."}:
            raise OrderNotFound

        def read_own(answer: ServiceResponse) -> OrderReport:
            report = read(OrderReport, answer)
            if report.service_id != service_id:
                raise NotUnderstood("another order's record", status=answer.status)
            return report

        path = f"{ORDERS}/{quoted(service_id, safe='')}"
        return await self._get("order", path, read_own, retry=retry, paced_order=service_id)

    async def newest(self, limit: int = LARGEST_PAGE, *, retry: bool = False) -> NewestOrders:
        """Read the newest orders, 1 to 100 of them (4.7), once unless `retry` is set. An empty list proves nothing.

        Raises:
            ValueError: the limit is outside 1 to 100.
        """
        if not 1 <= limit <= LARGEST_PAGE:
            raise ValueError("limit must be from 1 to 100")
        return await self._get("orders", f"{ORDERS}?limit={limit}", _read_newest, retry=retry)

    async def place(self, request: OrderRequest, may_send: MaySend = lambda: True) -> CreatedOrder:
        """Create an order (4.5). It is sent once, over a new connection, and never retried.

        Directly before the first byte is sent, `may_send` tells whether it may still be. It isn't sent either if this
        process has stood still longer than a connection may take.

        Raises:
            NotCreated: it wasn't sent, or the service rejected it.
            OutcomeUnknown: the order may exist. It may also exist after a cancellation.
        """
        try:
            body = json.dumps(request.body()).encode()
        except ValueError as error:
            raise Refused(str(error)) from None
        until = self._clock() + self._timeouts.pool + self._timeouts.connect
        post = Request(
            "POST",
            self.base_url + ORDERS,
            {**self._headers, "content-type": "application/json"},
            body,
            may_send=lambda: self._clock() < until and may_send(),
        )
        return await self._once("create_order", post, self._timeouts.total, lambda answer: read(CreatedOrder, answer))

    async def _get(
        self,
        route: str,
        path: str,
        read_answer: Callable[[ServiceResponse], T],
        *,
        retry: bool = True,
        paced_order: str | None = None,
    ) -> T:
        request = Request("GET", self.base_url + path, self._headers)
        if paced_order is not None:
            await self._pace.take(paced_order)
        end = self._clock() + self._retry.total
        attempt = 1
        while True:
            seconds = min(self._timeouts.total, end - self._clock())
            try:
                return await self._once(route, request, seconds, read_answer)
            except SettlementFailure as failure:
                pause = self._retry.pause(attempt, failure, self._chance()) if retry else None
                if pause is None or self._clock() + pause >= end:
                    raise
            log.info(
                "settlement_retry_scheduled", path=path, attempt=attempt, retry_in=round(pause, 2), key_id=self.key_id
            )
            await self._sleep(pause)
            if paced_order is not None:
                await self._pace.take(paced_order)
            attempt += 1

    async def _once(
        self, route: str, request: Request, seconds: float, read_answer: Callable[[ServiceResponse], T]
    ) -> T:
        started = self._clock()
        path = request.url.removeprefix(self.base_url)
        details = {"method": request.method, "path": path, "key_id": self.key_id}
        try:
            answer = read_response(await self._open_transport().send(request, seconds))
            if answer.date:
                self.clock_offset = answer.date - self._now()
            value = read_answer(answer)
        except SettlementFailure as failure:
            self._on_result(route, failure, self._clock() - started)
            log.warning("settlement_request_failed", error=str(failure), seconds=self._since(started), **details)
            raise
        self._on_result(route, value, self._clock() - started)
        log.debug("settlement_request_answered", status=answer.status, seconds=self._since(started), **details)
        return value

    def _open_transport(self) -> Transport:
        """Return the transport. Loading its library and the certificates takes 0.1 seconds, with the first request.

        An agent's client waits for the start of the tools, and asks the service only later.
        """
        if self._transport is None:
            from bot.settlement.transport import ServiceTransport  # noqa: PLC0415  see above

            self._transport = ServiceTransport(self._timeouts, is_encrypted=self.base_url.lower().startswith("https:"))
        return self._transport

    def _since(self, started: float) -> float:
        return round(self._clock() - started, 3)


def _read_stats(answer: ServiceResponse) -> PlatformStats:
    values = read_object(answer)
    return PlatformStats(values, read_instant(values.get("fetchedAt")))


def _read_newest(answer: ServiceResponse) -> NewestOrders:
    reports, skipped = read_rows(OrderReport, answer, "orders")
    return NewestOrders(reports, read_instant(read_object(answer).get("fetchedAt")), skipped)


INTERVAL_SECONDS = 5.0
TIMEOUT_SECONDS = 1800.0
SHORTEST_INTERVAL = 1.0
LONGEST_PAUSE = 60.0


class ReadsOrders(Protocol):
    """The part of the client that waiting uses."""

    async def look_up(self, service_id: str) -> OrderReport:
        """Read one order."""
        ...


async def wait_for_order(
    client: ReadsOrders,
    order_id: str,
    *,
    interval: float = INTERVAL_SECONDS,
    timeout: float = TIMEOUT_SECONDS,  # noqa: ASYNC109  the helper's own limit; cancelling works as well
    on_update: Callable[[OrderReport], Awaitable[None] | None] | None = None,
    on_poll: Callable[[OrderReport], Awaitable[None] | None] | None = None,
    abort: asyncio.Event | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> OrderReport:
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
        SettlementFailure: it isn't transient (`is_transient`), so waiting longer doesn't help.
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
        if order and order.is_terminal:
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
) -> tuple[OrderReport | None, float, float]:
    """Return the order if it could be read, the seconds until the next read, and the service's `Retry-After`."""
    try:
        return await client.look_up(order_id), pace, 0.0
    except SettlementFailure as error:
        if not error.is_transient:
            raise
        log.info("order_poll_failed", order_id=order_id, failures=failures + 1, error=str(error))
        requested = error.retry_after or 0.0
    backed_off = Backoff(pace, max(LONGEST_PAUSE, pace)).after(failures + 1)
    return None, max(backed_off, requested), requested


async def _notify(on_update: Callable[[OrderReport], Awaitable[None] | None] | None, order: OrderReport) -> None:
    result = on_update(order) if on_update else None
    if inspect.isawaitable(result):
        await result
