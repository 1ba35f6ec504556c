"""Read and write reveals."""

from sqlalchemy import select

from bot.infra.db.repository import Repository
from bot.support.reveal.model import Reveal
from bot.support.reveal.tables import IS_REVEALED, reveals


class RevealRepository(Repository[Reveal]):
    """Read and write reveals. They are saved, so that a restarted bot can mask them."""

    table, kind = reveals, Reveal

    async def add(self, reveal: Reveal) -> None:
        """Insert a reveal."""
        await self._insert(reveal)

    async def get(self, reveal_id: str) -> Reveal | None:
        """Return the reveal of this id."""
        return await self._find_first(select(reveals).where(reveals.c.id == reveal_id))

    async def save(self, reveal: Reveal) -> None:
        """Insert or replace a reveal."""
        await self._replace(reveal)

    async def unmasked(self) -> tuple[Reveal, ...]:
        """Return the reveals that aren't masked yet, the first to end first."""
        return await self._find(select(reveals).where(IS_REVEALED).order_by(reveals.c.until))
