"""What the service offers just now: one shared fetch of the list, the quote and the rails for everybody who asks."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from bot.core.clock import Clock
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.model import PayoutMethod, Quote, Settlement

T = TypeVar("T")

QUOTE_FOR = timedelta(seconds=15)
METHODS_FOR = timedelta(seconds=60)
RAILS_FOR = timedelta(seconds=60)


class Shared(Generic[T]):
    """A value that many ask for at once and one request brings; failures are never kept."""

    def __init__(self, fetch: Callable[[], Awaitable[T]], keep_for: timedelta, clock: Clock) -> None:
        self._fetch = fetch
        self._keep_for = keep_for
        self._clock = clock
        self._kept: tuple[datetime, T] | None = None
        self._under_way: asyncio.Task[T] | None = None

    async def get(self, *, fresh: bool = False) -> T:
        """Return the kept value, or ask for it if it is too old or `fresh` is set. Calls at once share a request."""
        if not fresh and self._kept and self._clock.now() - self._kept[0] < self._keep_for:
            return self._kept[1]
        if self._under_way is None:
            self._under_way = asyncio.ensure_future(self._bring())
            self._under_way.add_done_callback(self._done)
        # One caller's cancellation must not take the answer from the others.
        return await asyncio.shield(self._under_way)

    async def _bring(self) -> T:
        value = await self._fetch()
        self._kept = (self._clock.now(), value)
        return value

    def _done(self, task: asyncio.Task[T]) -> None:
        self._under_way = None
        if not task.cancelled():
            task.exception()  # looked at, so that a failure nobody waits for any more is not reported as lost


class ServiceCatalogue:
    """The live list, the quote and the channels, each fetched once however many people ask."""

    def __init__(self, settlement: Settlement, clock: Clock) -> None:
        self._methods = Shared(settlement.payout_methods, METHODS_FOR, clock)
        self._quote = Shared(settlement.quote, QUOTE_FOR, clock)
        self._rails = Shared(settlement.deposit_channels, RAILS_FOR, clock)

    async def methods(self, *, fresh: bool = False) -> tuple[PayoutMethod, ...]:
        """Return the live list of payout methods; raises `SettlementFailure`."""
        return await self._methods.get(fresh=fresh)

    async def quote(self) -> Quote:
        """Return the rate; raises `SettlementFailure`."""
        return await self._quote.get()

    async def channels(self) -> tuple[str, ...]:
        """How one can pay: Lightning always, the others only while `deposit/rails` has them."""
        rails = await self._rails.get()
        return (LIGHTNING, *(code for code in TOKENS if code in rails))
