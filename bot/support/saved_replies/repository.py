"""Read and write saved replies."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, delete, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.support.saved_replies.model import SavedReply
from bot.support.saved_replies.tables import saved_replies

ALL = select(saved_replies).order_by(saved_replies.c.name)
DELETE = delete(saved_replies).where(saved_replies.c.name == bindparam("called"))


class SavedReplyRepository:
    """Read and write saved replies."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def all(self) -> tuple[SavedReply, ...]:
        """Return all saved replies, by name."""
        found = (await self._connection.execute(ALL)).mappings()
        return encryption.read_rows(self._vault, saved_replies, found, _to_saved_reply)

    async def get(self, name: str) -> SavedReply | None:
        """Return the saved reply with this name."""
        return next((reply for reply in await self.all() if reply.name == name), None)

    async def save(self, reply: SavedReply) -> None:
        """Insert or replace a saved reply."""
        await upsert.insert_or_replace(self._connection, saved_replies, asdict(reply))

    async def delete(self, name: str) -> bool:
        """Delete a saved reply, and return whether it existed."""
        return (await self._connection.execute(DELETE, {"called": name})).rowcount == 1


def _to_saved_reply(known: dict[str, Any]) -> SavedReply:
    return SavedReply(**known)
