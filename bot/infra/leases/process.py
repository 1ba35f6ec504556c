"""The leases of this process: of the chats in which it works, and of the lead."""

import asyncio
from dataclasses import dataclass
from typing import Final, Self

import structlog

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.leases.chat_leases import ChatLeases
from bot.infra.leases.leader import Leadership
from bot.infra.workers import Wakeup

log = structlog.get_logger(__name__)

RELEASED_WITHIN: Final = 1.0
"""Seconds to give leases back at shutdown. If that fails, they end by themselves."""


@dataclass(frozen=True, slots=True)
class ProcessLeases:
    """All leases of one process.

    Attributes:
        chats: the leases of chats.
        lead: the lease of the leader.
        lead_freed: wakes the processes that wait for the lead.
    """

    chats: ChatLeases
    lead: Leadership
    lead_freed: Wakeup

    @classmethod
    def create(cls, database: Database, owner: str) -> Self:
        """Return the leases of the process with the random id `owner`. It holds none yet."""
        is_alone, lead_freed = database.is_sqlite, Wakeup()
        chats = ChatLeases(database, owner, is_alone=is_alone)
        lead = Leadership(database, owner, is_alone=is_alone, freed=lead_freed, stands_aside=lambda: chats.stands_aside)
        return cls(chats, lead, lead_freed)

    async def release(self) -> None:
        """Give all leases back before the process ends, so that others continue at once."""
        try:
            async with asyncio.timeout(RELEASED_WITHIN):
                await self.lead.release()
                self.lead_freed.share()
                await self.chats.release_all()
        except (StoreDown, TimeoutError) as error:
            log.warning("leases_not_released", error=type(error).__name__)  # they end by themselves
