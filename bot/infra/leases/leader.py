"""The leader: the one process that receives by polling, asks the service, and sends in bulk.

The lead is a lease like that of a chat. A leader that dies, freezes or is cut off is followed when its lease ends.
What it still does afterwards is refused: its transactions check the epoch of its lead, and it calls nobody once its own
clock says that the lease has ended.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from prometheus_client import Gauge

from bot.infra.db.errors import StoreDown
from bot.infra.leases.chat_leases import KEEP_SECONDS, ChatLease, Leases
from bot.infra.leases.repository import LEAD, LEASE_SECONDS

log = structlog.get_logger(__name__)

LEADING: Final = Gauge(
    "kirim_leading", "1 while this process is the leader: the one that polls, asks the service and sends in bulk."
)

LOOK_SECONDS: Final = 0.5
"""How often a process that doesn't lead looks whether the lead is free."""

ENDS_WITHIN_SECONDS: Final = 5.0
"""How long the work of a lost lead may take to end. It can neither send nor commit."""

Work = Callable[[], Awaitable[None]]


class Leadership:
    """Makes this process the leader when nobody leads. `leases` grants the lead, and keeps it."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._lead: ChatLease | None = None
        LEADING.set_function(lambda: float(self.is_leading))

    @property
    def is_leading(self) -> bool:
        """Whether this process leads, as far as it knows."""
        return self._lead is not None and self._lead.is_held

    async def run(self, work: Work) -> None:
        """Run `work` whenever this process leads, until it ends by itself. Cancel it when the lead is lost.

        Raises:
            Exception: what `work` raised.
        """
        try:
            while True:
                self._lead = lead = await self._wait_for_lead()
                log.info("leadership_gained", epoch=lead.epoch)
                if await self._run_while_leading(lead, work):
                    return
                log.warning("leadership_lost", epoch=lead.epoch)
        finally:
            self._lead = None

    async def _wait_for_lead(self) -> ChatLease:
        while True:
            try:
                async with asyncio.timeout(LEASE_SECONDS / 2):
                    if leases := await self._leases.claim([LEAD]):
                        return leases[0]
            except (StoreDown, TimeoutError) as error:
                log.warning("lead_not_asked_for", error=type(error).__name__)
            await asyncio.sleep(LOOK_SECONDS)

    async def _run_while_leading(self, lead: ChatLease, work: Work) -> bool:
        """Return True if the work ended by itself, and False if the lead was lost."""
        working = asyncio.create_task(self._work(lead, work), name="leading")
        try:
            while lead.is_held and not working.done():
                await asyncio.wait({working}, timeout=KEEP_SECONDS)
            if not lead.is_held:
                return False  # what ended without the lead has failed because of that
            await working
            return True
        finally:
            if not working.cancelling():  # a second cancellation would end what the first lets it do
                working.cancel()
            await asyncio.wait({working}, timeout=ENDS_WITHIN_SECONDS)

    async def _work(self, lead: ChatLease, work: Work) -> None:
        with self._leases.work_in(lead):
            await work()
