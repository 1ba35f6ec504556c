"""The leader: the one process that receives by polling, asks the service, and sends in bulk.

The lead is a lease, too. A leader that dies, freezes or is cut off is followed when its lease ends. What it still does
afterwards is refused: its transactions check the epoch of its lead, and it calls nobody once its own clock says that
the lease has ended.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from prometheus_client import Gauge

from bot.core.clock import seconds_with_sleep
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import FENCE
from bot.infra.db.stalled_sessions import end_sessions_of
from bot.infra.db.transaction import Transaction
from bot.infra.leases.model import KEEP_SECONDS, LEASE_SECONDS, MARGIN_SECONDS, Lease, Term
from bot.infra.leases.repository import NO_OWNER, LeaseRepository
from bot.infra.workers import Wakeup

log = structlog.get_logger(__name__)

LEADING: Final = Gauge(
    "kirim_leading", "1 while this process is the leader: the one that polls, asks the service and sends in bulk."
)

LOOK_SECONDS: Final = 0.5
"""How often a process that doesn't lead looks whether the lead is free."""

ALONE_SECONDS: Final = 10
"""The lease of a process that is alone. Nobody can take it, so it isn't prolonged."""

ENDS_WITHIN_SECONDS: Final = 5.0
"""How long the work of a lost lead may take to end. It can neither send nor commit."""


class Lead(Lease):
    """The lease of the leader."""

    async def _lock(self, repository: LeaseRepository) -> bool:
        return await repository.lock_lead(self.epoch)


class Leadership:
    """Makes this process the leader when nobody leads, and keeps the lead.

    Args:
        database: has the table.
        owner: the random id of this process.
        is_alone: whether no other process can use this database.
        freed: wakes this process when another one has given the lead back.
        stands_aside: whether another process must lead, because it has a key that this one lacks.
        seconds: a monotonic clock that goes on while the machine sleeps.
    """

    def __init__(
        self,
        database: Database,
        owner: str,
        *,
        is_alone: bool,
        freed: Wakeup | None = None,
        stands_aside: Callable[[], bool] = lambda: False,
        seconds: Callable[[], float] = seconds_with_sleep,
    ) -> None:
        self._database = database
        self._owner = owner
        self._is_alone = is_alone
        self._freed = freed or Wakeup()
        self._stands_aside = stands_aside
        self._seconds = seconds
        self._lead: Lead | None = None
        LEADING.set_function(lambda: float(self.is_leading))

    @property
    def is_leading(self) -> bool:
        """Whether this process leads, as far as it knows."""
        return self._lead is not None and self._lead.is_held

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` whenever this process leads, until it ends by itself. Cancel it when the lead is lost.

        Raises:
            Exception: what `work` raised.
        """
        while True:
            lead = await self._wait_for_lead()
            log.info("leadership_gained", epoch=lead.epoch)
            if await self._run_while_leading(lead, work):
                return
            log.warning("leadership_lost", epoch=lead.epoch)

    async def _wait_for_lead(self) -> Lead:
        while True:
            lead = await self._try()
            if lead is not None:
                return lead
            await self._freed.wait(LOOK_SECONDS)

    async def _try(self) -> Lead | None:
        if self._stands_aside():
            return None
        began, lease_seconds = self._seconds(), ALONE_SECONDS if self._is_alone else int(LEASE_SECONDS)
        try:
            async with asyncio.timeout(LEASE_SECONDS / 2), self._database.keeping() as tx:
                epoch = await self._take(tx, lease_seconds)
        except (StoreDown, TimeoutError) as error:
            log.warning("lead_not_asked_for", error=type(error).__name__)
            return None
        if epoch is None:
            return None
        self._lead = Lead(self._owner, epoch, self._create_term(began), self._is_alone)
        return self._lead

    async def _take(self, tx: Transaction, lease_seconds: int) -> int | None:
        repository = LeaseRepository(tx, self._owner)
        if not self._is_alone and (last := await repository.find_lead()) is not None:
            owner, has_ended = last
            if not has_ended:
                return None
            if owner not in {NO_OWNER, self._owner}:
                await end_sessions_of(tx, [owner])
        return await repository.lead(lease_seconds, is_alone=self._is_alone)

    def _create_term(self, began: float) -> Term:
        return Term(self._seconds, float("inf") if self._is_alone else began + LEASE_SECONDS - MARGIN_SECONDS)

    async def _run_while_leading(self, lead: Lead, work: Callable[[], Awaitable[None]]) -> bool:
        """Return True if the work ended by itself, and False if the lead was lost."""
        token = FENCE.set(lead)
        try:
            working = asyncio.ensure_future(work())
        finally:
            FENCE.reset(token)
        keeping = asyncio.create_task(self._keep(lead), name="leader")
        try:
            await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done() or not lead.is_held:
                return False  # what ended without the lead has failed because of that
            await working
            return True
        finally:
            working.cancel()
            keeping.cancel()
            await asyncio.wait({working, keeping}, timeout=ENDS_WITHIN_SECONDS)

    async def _keep(self, lead: Lead) -> None:
        """Keep the lead until it is lost. A process that is alone can't lose it."""
        while lead.is_held:
            await asyncio.sleep(KEEP_SECONDS)
            if not self._is_alone:
                await self._keep_once(lead)

    async def _keep_once(self, lead: Lead) -> None:
        began = self._seconds()
        try:
            async with asyncio.timeout(LEASE_SECONDS / 2), self._database.keeping() as tx:
                repository, is_kept = LeaseRepository(tx, self._owner), False
                if self._stands_aside():
                    await repository.release_lead(lead.epoch)
                else:
                    is_kept = await repository.keep_lead(lead.epoch, int(LEASE_SECONDS))
        except (StoreDown, TimeoutError) as error:
            log.warning("lead_not_kept", error=type(error).__name__)
            return
        if lead.is_held:
            lead.term = self._create_term(began) if is_kept else lead.term.end()

    async def release(self) -> None:
        """Give the lead back, so that another process leads at once."""
        lead, self._lead = self._lead, None
        if lead is not None and lead.is_held:
            lead.term = lead.term.end()
            async with self._database.keeping() as tx:
                await LeaseRepository(tx, self._owner).release_lead(lead.epoch)


async def is_led(database: Database) -> bool:
    """Return whether a process of the bot leads on this database."""
    async with database.reading() as tx:
        return await LeaseRepository(tx, "").is_led()
