"""The settlement service's seven endpoints as a typed, asynchronous client (settlement API, 4).

    async with SettlementClient("https://service.example", api_key) as client:
        quote = await client.quote()

Reads are retried when that makes sense. The one POST never is. After `error.outcome_unknown`, look for the order in the
list before you post another (4.5, 4.7).
"""

from __future__ import annotations

import asyncio
import json
import random as randomness
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import quote as quoted
from urllib.parse import urlsplit

import structlog

from bot.core.clock import seconds_with_sleep
from bot.settlement.client.errors import SettlementError
from bot.settlement.client.http import Request, Timeouts, Transport, read_response
from bot.settlement.client.parser import ServiceResponse, read, read_methods, read_orders
from bot.settlement.client.retry import RetryPolicy
from bot.settlement.client.wire import (
    CreatedOrder,
    DepositRails,
    Order,
    OrderInput,
    OrderList,
    PayoutMethods,
    PlatformStats,
    Quote,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    OnRequest = Callable[[str, SettlementError | None, float], None]

KeyHeader = Literal["x-api-key", "authorization"]

LARGEST_PAGE = 100
ORDERS = "/v1/offramp/orders"
SECONDS_BETWEEN_READS_OF_AN_ORDER = 1.0

log = structlog.get_logger(__name__)


def key_id_of(api_key: str) -> str:
    """Return the part of a key that is safe to log (settlement API, 5.3), or an empty string if there is none."""
    key_id, dot, _ = api_key.partition(".")
    return key_id if dot else "(no key id)"


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _ignore_request(route: str, error: SettlementError | None, seconds: float) -> None:
    del route, error, seconds


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
    """One tenant's access to the service. Any number of tasks can share it.

    Args:
        base_url: the service's address without `/v1`. A path and a trailing slash are accepted.
        api_key: the tenant's key. Only the part before its dot is ever shown.
        header: which of the two accepted headers carries the key (settlement API, 5.2).
        timeouts: seconds; see `Timeouts`.
        retry: how reads are tried again.
        transport: carries the requests; aiohttp's connections by default. Closed with the client.
        sleep: waits between attempts.
        chance: gives random numbers from 0 to 1, for jitter.
        clock: monotonic seconds, which go on while the machine sleeps.
        now: our own clock as aware UTC, compared with the service's.
        on_request: called after each attempt with its route, its error if it failed, and the seconds it took.

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
        on_request: OnRequest = _ignore_request,
    ) -> None:
        self.base_url = _checked_base(base_url)
        self.key_id = key_id_of(api_key)
        self.clock_offset: timedelta | None = None
        self._timeouts, self._retry = timeouts, retry
        self._sleep, self._chance, self._clock, self._now = sleep, chance, clock, now
        self._on_request = on_request
        self._headers = {"accept": "application/json", "user-agent": "kirim", **_key_headers(api_key, header)}
        self._transport = transport

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

    async def quote(self, *, retry: bool = True) -> Quote:
        """Read the latest cached rates (settlement API, 4.1)."""
        return read(Quote, await self._get("quote", "/v1/quote/btc-idr", retry=retry))

    async def payout_methods(self, *, retry: bool = True) -> PayoutMethods:
        """Read the live list of banks and e-wallets. Read it before each order (settlement API, 4.2)."""
        return read_methods(await self._get("payout_methods", "/v1/payout/methods", retry=retry))

    async def deposit_rails(self, *, retry: bool = True) -> DepositRails:
        """Read the deposit rails besides Lightning (settlement API, 4.3)."""
        return read(DepositRails, await self._get("deposit_rails", "/v1/deposit/rails", retry=retry))

    async def platform_stats(self, *, retry: bool = True) -> PlatformStats:
        """Read the service's statistics (settlement API, 4.4)."""
        return read(PlatformStats, await self._get("stats", "/v1/platform/stats", retry=retry))

    async def order(self, order_id: str, *, retry: bool = True) -> Order:
        """Read one order (settlement API, 4.6). Attempts are at least a second apart (6.3).

        Raises:
            NotFound: there is no such order, or it is another tenant's.
            ValueError: the id can't be part of a path (empty, `.` or `..`).
        """
        if order_id in {"", ".", ".."}:
            raise ValueError("not an order id")
        path = f"{ORDERS}/{quoted(order_id, safe='')}"
        return read(Order, await self._get("order", path, floor=SECONDS_BETWEEN_READS_OF_AN_ORDER, retry=retry))

    async def orders(self, limit: int = 50, *, retry: bool = True) -> OrderList:
        """Read the newest orders, 1 to 100 of them (settlement API, 4.7). An empty list proves nothing.

        Raises:
            ValueError: the limit is outside 1 to 100.
        """
        if not 1 <= limit <= LARGEST_PAGE:
            raise ValueError("limit must be from 1 to 100")
        return read_orders(await self._get("orders", f"{ORDERS}?limit={limit}", retry=retry))

    async def create_order(self, order_input: OrderInput, may_send: Callable[[], bool] = lambda: True) -> CreatedOrder:
        """Create an order (settlement API, 4.5). It is sent once, over a new connection, and never retried.

        Directly before the first byte is sent, `may_send` tells whether it may still be. It isn't sent either if this
        process has stood still longer than a connection may take.

        Raises:
            TooLate: it wasn't sent, because the time for it was over.
            SettlementError: the order may exist if `outcome_unknown` is true. It may also exist after a cancellation.
        """
        until = self._clock() + self._timeouts.pool + self._timeouts.connect
        request = Request(
            "POST",
            self.base_url + ORDERS,
            {**self._headers, "content-type": "application/json"},
            json.dumps(order_input.body()).encode(),
            may_send=lambda: self._clock() < until and may_send(),
        )
        return read(CreatedOrder, await self._once("create_order", request, self._timeouts.total))

    async def _get(self, route: str, path: str, *, floor: float = 0.0, retry: bool) -> ServiceResponse:
        """Read with retries. `retry=False` sends once, for callers with a request budget."""
        request = Request("GET", self.base_url + path, self._headers)
        end = self._clock() + self._retry.total
        attempt = 1
        while True:
            seconds = min(self._timeouts.total, end - self._clock())
            try:
                return await self._once(route, request, seconds)
            except SettlementError as error:
                pause = self._retry.pause(attempt, error, self._chance(), floor) if retry else None
                if pause is None or self._clock() + pause >= end:
                    raise
            log.info(
                "settlement_retry_scheduled", path=path, attempt=attempt, retry_in=round(pause, 2), key_id=self.key_id
            )
            await self._sleep(pause)
            attempt += 1

    async def _once(self, route: str, request: Request, seconds: float) -> ServiceResponse:
        started = self._clock()
        path = request.url.removeprefix(self.base_url)
        details = {"method": request.method, "path": path, "key_id": self.key_id}
        try:
            answer = read_response(
                await self._open_transport().send(request, seconds), is_personal=request.method == "POST"
            )
        except SettlementError as error:
            self._on_request(route, error, self._clock() - started)
            log.warning("settlement_request_failed", error=str(error), seconds=self._since(started), **details)
            raise
        self._on_request(route, None, self._clock() - started)
        if answer.date:
            self.clock_offset = answer.date - self._now()
        log.debug("settlement_request_answered", status=answer.status, seconds=self._since(started), **details)
        return answer

    def _open_transport(self) -> Transport:
        """Return the transport. Loading its library and the certificates takes 0.1 seconds, with the first request.

        An agent's client waits for the start of the tools, and asks the service only later.
        """
        if self._transport is None:
            from bot.settlement.client.transport import ServiceTransport  # noqa: PLC0415  see above

            self._transport = ServiceTransport(self._timeouts, is_encrypted=self.base_url.lower().startswith("https:"))
        return self._transport

    def _since(self, started: float) -> float:
        return round(self._clock() - started, 3)
