"""What the service currently offers: payout methods, quote and rails, cached for seconds and shared by all users."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from bot.core.clock import Clock
from bot.infra.logging import shared_task_context
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.client import SettlementClient
from bot.settlement.errors import MethodVanished, SettlementFailure
from bot.settlement.model import PayoutMethod, Quote, find_by_pair

T = TypeVar("T")

KEEP_QUOTE = timedelta(seconds=15)
KEEP_METHODS = timedelta(seconds=60)
KEEP_RAILS = timedelta(seconds=60)

LONGEST_WAIT = 2.0
"""Seconds until a screen that can do without a price is shown without it."""


class CachedValue(Generic[T]):
    """A value that is fetched when it is needed and kept for `keep_for`. Failures aren't kept."""

    def __init__(self, fetch: Callable[[], Awaitable[T]], keep_for: timedelta, clock: Clock) -> None:
        self._fetch = fetch
        self._keep_for = keep_for
        self._clock = clock
        self._kept: tuple[datetime, T] | None = None
        self._request: asyncio.Task[T] | None = None

    @property
    def last(self) -> T | None:
        """The value that was fetched last, however old. None if there is none."""
        return self._kept[1] if self._kept else None

    async def get(self, *, fresh: bool = False) -> T:
        """Return the kept value. Fetch it if it is too old or `fresh` is set. Simultaneous calls share a request."""
        if not fresh and self._kept and self._clock.now() - self._kept[0] < self._keep_for:
            return self._kept[1]
        if self._request is None:
            self._request = asyncio.create_task(self._fetch_and_keep(), context=shared_task_context())
            self._request.add_done_callback(self._forget_request)
        # If one caller is cancelled, the others still get the answer.
        return await asyncio.shield(self._request)

    async def _fetch_and_keep(self) -> T:
        value = await self._fetch()
        self._kept = (self._clock.now(), value)
        return value

    def _forget_request(self, task: asyncio.Task[T]) -> None:
        self._request = None
        if not task.cancelled():
            # Otherwise asyncio logs a failure if every caller was cancelled before it.
            task.exception()


class ServiceCatalogue:
    """The payout methods, the quote and the channels of the service, each cached."""

    def __init__(self, settlement: SettlementClient, clock: Clock) -> None:
        self._methods = CachedValue(settlement.payout_methods, KEEP_METHODS, clock)
        self._quote = CachedValue(settlement.quote, KEEP_QUOTE, clock)
        self._rails = CachedValue(settlement.deposit_rails, KEEP_RAILS, clock)

    async def methods(self, *, fresh: bool = False) -> tuple[PayoutMethod, ...]:
        """Return the live list of payout methods. Raise `SettlementFailure` if it can't be read."""
        return await self._methods.get(fresh=fresh)

    async def find(self, known: PayoutMethod, *, fresh: bool = False) -> PayoutMethod:
        """Return a payout method as the live list has it now. Raise `MethodVanished`, or as `methods` does."""
        current = find_by_pair(await self.methods(fresh=fresh), known.pair)
        if current is None:
            raise MethodVanished
        return current

    @property
    def listed(self) -> tuple[PayoutMethod, ...]:
        """The payout methods that were read last, however old. It is empty before the first."""
        return self._methods.last or ()

    async def quote(self, *, fresh: bool = False) -> Quote:
        """Return the rate. Raise `SettlementFailure` if it can't be read."""
        return await self._quote.get(fresh=fresh)

    async def quote_soon(self) -> Quote | None:
        """Return the rate, or None if there is none within two seconds. For screens that can do without a price."""
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return await self.quote()
        except (SettlementFailure, TimeoutError):
            return None

    @property
    def may_offer_tokens(self) -> bool:
        """Whether users may be able to pay with a token, as far as is known without asking the service."""
        rails = self._rails.last
        return rails is None or any(code in rails.channels for code in TOKENS)

    async def channels(self) -> tuple[str, ...]:
        """Return the codes of the ways to pay: always Lightning, and the tokens that `deposit/rails` offers."""
        rails = await self._rails.get()
        return (LIGHTNING, *(code for code in TOKENS if code in rails.channels))
