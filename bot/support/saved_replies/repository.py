"""Read and write saved replies."""

from sqlalchemy import delete, select

from bot.infra.db.repository import Repository
from bot.support.saved_replies.model import SavedReply
from bot.support.saved_replies.tables import saved_replies


class SavedReplyRepository(Repository[SavedReply]):
    """Read and write saved replies."""

    table, kind = saved_replies, SavedReply

    async def all(self) -> tuple[SavedReply, ...]:
        """Return all saved replies, by name."""
        return await self._find(select(saved_replies).order_by(saved_replies.c.name))

    async def get(self, name: str) -> SavedReply | None:
        """Return the saved reply with this name."""
        return await self._find_first(select(saved_replies).where(saved_replies.c.name == name))

    async def save(self, reply: SavedReply) -> None:
        """Insert or replace a saved reply."""
        await self._replace(reply)

    async def delete(self, name: str) -> bool:
        """Delete a saved reply, and return whether it existed."""
        return await self._change(delete(saved_replies).where(saved_replies.c.name == name)) == 1
